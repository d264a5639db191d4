if(TARGET pleat-pmi-base)
  pleat_unit_test(pmi SOURCES ${CMAKE_CURRENT_LIST_DIR}/pmi_test.c DEPS pleat-pmi-base)
endif()

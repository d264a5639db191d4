if(TARGET pleat-agent-base)
  pleat_unit_test(agent-mapping SOURCES ${CMAKE_CURRENT_LIST_DIR}/agent-mapping.c
    DEPS pleat-agent-base)
  pleat_unit_test(agent-detector SOURCES ${CMAKE_CURRENT_LIST_DIR}/agent-detector.c
    DEPS pleat-agent-base)
endif()

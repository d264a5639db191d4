# pleat-pmi with programs of MPICH, and without the rest of Pleat.
if(TARGET pleat-pmi AND TARGET pleat-mpich)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  add_executable(test-pmi-ranks ${CMAKE_CURRENT_LIST_DIR}/pmi/ranks.c)
  target_link_libraries(test-pmi-ranks PRIVATE pleat-mpich)
  set_target_properties(test-pmi-ranks PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME system-pmi
    COMMAND ${PYTEST} -q -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR}/pmi/test_pmi.py)
  set_tests_properties(system-pmi PROPERTIES LABELS system TIMEOUT 120
    ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endif()

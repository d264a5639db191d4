# Jobs whose program asks for processes itself.
if(TARGET pleatd AND TARGET pleat-agent)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  foreach(program live crowd)
    add_executable(process-${program} ${test_dir}/processes/${program}.c)
    target_link_libraries(process-${program} PRIVATE pleat-process-library)
    set_target_properties(process-${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  endforeach()
  set(process_parts process_live processes process_starting process_returning process_faults process_history process_nodes process_architectures flow joined)
  list(TRANSFORM process_parts PREPEND system/processes/test_ OUTPUT_VARIABLE process_tests)
  list(TRANSFORM process_tests APPEND .py)
  pleat_must_list(system/processes/test_*.py ${process_tests})
  foreach(part ${process_parts})
    add_test(NAME system-processes-${part} COMMAND ${PYTEST} -q -p no:cacheprovider
      ${test_dir}/processes/test_${part}.py)
    set_tests_properties(system-processes-${part} PROPERTIES LABELS system TIMEOUT 600
      ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()

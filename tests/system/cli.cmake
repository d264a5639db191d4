# The command line against a daemon played by the test (fake_pleatd.py); test_cli_real.py: a real one.
if(TARGET pleat AND TARGET pleatd AND TARGET pleat-agent)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  add_executable(make-checkpoint ${test_dir}/make_checkpoint.c)
  target_link_libraries(make-checkpoint PRIVATE pleat-checkpoint)
  set_target_properties(make-checkpoint PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  foreach(part usage data chart mix run fold workload sim experiment real top times history tables completion waiting doctor site site_add)
    add_test(NAME system-cli-${part}
      COMMAND ${PYTEST} -q -p no:cacheprovider
        ${CMAKE_CURRENT_LIST_DIR}/cli/test_cli_${part}.py)
    set_tests_properties(system-cli-${part} PROPERTIES LABELS system TIMEOUT 300
      ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  endforeach()
  if(TARGET app-heat)
    add_test(NAME system-readme
      COMMAND ${PYTEST} -q -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR}/cli/test_readme.py)
    set_tests_properties(system-readme PROPERTIES LABELS system TIMEOUT 300
      ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  endif()
endif()

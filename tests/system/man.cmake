# Manual pages say what the programs do: compared with their --help, the guides and the public header.
if(TARGET pleat-man AND TARGET pleat AND TARGET pleatd AND TARGET pleat-agent)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  add_test(NAME system-man
    COMMAND ${PYTEST} -q -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR}/man/test_man.py)
  set_tests_properties(system-man PROPERTIES LABELS system TIMEOUT 120
    ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endif()

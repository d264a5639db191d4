# Needs real MPI programs; only two processes at a time.
if(TARGET pleat AND TARGET pleatd AND TARGET pleat-agent AND TARGET app-heat)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  add_test(NAME system-cli-grid
    COMMAND ${PYTEST} -q -p no:cacheprovider ${test_dir}/cli/test_cli_grid.py)
  set_tests_properties(system-cli-grid PROPERTIES LABELS system TIMEOUT 120
    ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endif()

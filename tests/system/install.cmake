# An installed Pleat, moved to another place, used as by somebody outside.
if(TARGET pleat-openmpi AND TARGET pleat AND TARGET pleatd AND TARGET pleat-agent)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  add_test(NAME system-install
    COMMAND ${PYTEST} -q -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR}/install/test_install.py)
  set_tests_properties(system-install PROPERTIES LABELS system TIMEOUT 300
    ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endif()

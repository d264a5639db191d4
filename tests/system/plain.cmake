# The MPI programs that know nothing of Pleat, by themselves.
if(TARGET app-send)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  add_test(NAME system-plain
    COMMAND ${PYTEST} -q -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR}/plain/test_plain.py)
  set_tests_properties(system-plain PROPERTIES LABELS system TIMEOUT 300
    ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endif()

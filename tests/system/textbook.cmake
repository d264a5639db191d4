# `pleat sim` against textbook schedulers in Python, job by job.
if(TARGET pleat)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  add_test(NAME system-sim-textbook
    COMMAND ${PYTEST} -q -rs -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR}/sim/test_textbook.py)
  set_tests_properties(system-sim-textbook PROPERTIES LABELS system TIMEOUT 300
    ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endif()

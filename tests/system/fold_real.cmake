# Unmodified programs from Debian's packages, folded.
if(TARGET fold-run AND TARGET app-send)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  add_test(NAME system-fold-real
    COMMAND ${PYTEST} -q -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR}/fold/real/test_real.py)
  set_tests_properties(system-fold-real PROPERTIES LABELS system TIMEOUT 900
    ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endif()

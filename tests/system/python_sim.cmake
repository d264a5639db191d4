# The Python module pleat.sim, with libpleat-sim of the build.
if(TARGET pleat-sim-library AND TARGET pleat AND NOT PLEAT_SANITIZE) # that comes with programs, and Python has none
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  foreach(part sim sim_policies sim_page)
    add_test(NAME system-python-${part}
      COMMAND ${PYTEST} -q -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR}/python/test_${part}.py)
    set_tests_properties(system-python-${part} PROPERTIES LABELS system TIMEOUT 300
      ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()

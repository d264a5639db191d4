# A real Grid Engine cluster beside two of Slurm's. Where there can be none, the tests are shown as skipped.
find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
set(gridengine_parts adapter faults replace site taken)
list(TRANSFORM gridengine_parts PREPEND system/gridengine/test_ OUTPUT_VARIABLE gridengine_tests)
list(TRANSFORM gridengine_tests APPEND .py)
pleat_must_list(system/gridengine/test_*.py ${gridengine_tests})
foreach(part ${gridengine_parts})
  add_test(NAME system-gridengine-${part}
    COMMAND ${PYTEST} -q -x -rs -p no:cacheprovider ${test_dir}/gridengine/test_${part}.py)
  set_tests_properties(system-gridengine-${part} PROPERTIES LABELS system TIMEOUT 600
    SKIP_REGULAR_EXPRESSION "SKIPPED.*clusters need"
    ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endforeach()

# Real Slurm clusters, on hosts in namespaces. Where there can be none, the tests are shown as skipped.
# A file stops at its first failure: what that leaves in the cluster would make those after it wait in vain.
find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
set(slurm_parts accounts adapter apart apart_taken cluster controller controller_commands evolving evolving_sites faults folded folded_confined folded_guests folded_hosts give_back guide hosts malleable replace replace_short reserved site taken told)
list(TRANSFORM slurm_parts PREPEND system/slurm/test_ OUTPUT_VARIABLE slurm_tests)
list(TRANSFORM slurm_tests APPEND .py)
pleat_must_list(system/slurm/test_*.py ${slurm_tests})
foreach(part ${slurm_parts})
  add_test(NAME system-slurm-${part}
    COMMAND ${PYTEST} -q -x -rs -p no:cacheprovider ${test_dir}/slurm/test_${part}.py)
  set_tests_properties(system-slurm-${part} PROPERTIES LABELS system TIMEOUT 600
    SKIP_REGULAR_EXPRESSION "SKIPPED.*clusters need"
    ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endforeach()

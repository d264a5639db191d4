pleat_unit_test(scenario SOURCES ${test_dir}/scenario_test.c DEPS pleat-scenario pleat-sim pleat-workload)

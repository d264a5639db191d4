pleat_unit_test(core-timings
  SOURCES ${test_dir}/core_timings_test.c ${test_dir}/core_scenarios_hand.c DEPS pleat-core)

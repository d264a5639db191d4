pleat_unit_test(core-waiting
  SOURCES ${test_dir}/core_waiting_test.c ${test_dir}/core_scenarios_hand.c DEPS pleat-core)

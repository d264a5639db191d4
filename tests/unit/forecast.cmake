pleat_unit_test(forecast
  SOURCES ${test_dir}/forecast_test.c ${test_dir}/core_scenarios_hand.c DEPS pleat-forecast pleat-core)

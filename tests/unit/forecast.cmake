pleat_unit_test(forecast
  SOURCES ${test_dir}/forecast_test.c ${test_dir}/core_scenarios_hand.c DEPS pleat-forecast pleat-core)
pleat_unit_test(forecast-worlds SOURCES ${test_dir}/forecast_worlds_test.c
  DEPS pleat-forecast pleat-sim pleat-core)

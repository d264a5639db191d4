pleat_unit_test(core-side
  SOURCES ${test_dir}/core_side_test.c ${test_dir}/core_scenarios_hand.c DEPS pleat-core)
target_link_options(test-core-side PRIVATE -Wl,--wrap=malloc,--wrap=realloc)

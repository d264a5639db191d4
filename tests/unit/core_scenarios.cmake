foreach(name resize life)
  pleat_unit_test(core-scenarios-${name}
    SOURCES ${test_dir}/core_scenarios_${name}_test.c ${test_dir}/core_scenarios_hand.c
    DEPS pleat-core)
endforeach()

foreach(name policy_malleability policy_approach policy_plan)
  string(REPLACE "_" "-" target ${name})
  pleat_unit_test(${target}
    SOURCES ${test_dir}/${name}_test.c ${test_dir}/policy_bench.c DEPS pleat-policy)
endforeach()

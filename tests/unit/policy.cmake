foreach(name policy_malleability policy_approach policy_plan policy_queue)
  string(REPLACE "_" "-" target ${name})
  pleat_unit_test(${target}
    SOURCES ${test_dir}/${name}_test.c ${test_dir}/policy_bench.c DEPS pleat-policy)
endforeach()

pleat_unit_test(policy-known-values
  SOURCES ${test_dir}/policy_known_values_test.c ${test_dir}/policy_replay.c DEPS pleat-core m)
target_compile_definitions(test-policy-known-values PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
pleat_unit_test(policy-replay
  SOURCES ${test_dir}/policy_replay_test.c ${test_dir}/policy_replay.c DEPS pleat-core)
pleat_unit_test(policy-profile
  SOURCES ${test_dir}/policy_profile_test.c DEPS pleat-policy)

foreach(name policy_buffer policy_placement policy_malleability policy_sweet_spot policy_learned policy_learned_start policy_partitions policy_approach policy_plan policy_queue policy_folding policy_nodes policy_why)
  string(REPLACE "_" "-" target ${name})
  pleat_unit_test(${target}
    SOURCES ${test_dir}/${name}_test.c ${test_dir}/policy_bench.c DEPS pleat-policy)
endforeach()

pleat_unit_test(policy-known-values
  SOURCES ${test_dir}/policy_known_values_test.c ${test_dir}/policy_replay.c DEPS pleat-core m)
target_compile_definitions(test-policy-known-values PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
pleat_unit_test(policy-replay
  SOURCES ${test_dir}/policy_replay_test.c ${test_dir}/policy_replay.c DEPS pleat-core)
pleat_unit_test(policy-speed-law
  SOURCES ${test_dir}/policy_speed_law_test.c DEPS pleat-policy m)
pleat_unit_test(policy-profile
  SOURCES ${test_dir}/policy_profile_test.c DEPS pleat-policy)

# The example of the guide, as it stands there.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(guide ${CMAKE_SOURCE_DIR}/docs/adding-a-policy.md)
set(guide_code)
foreach(file src/policy/policies.def queue/window.c policy_window_test.c)
  get_filename_component(name ${file} NAME)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/guide/${name})
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/guide
    COMMAND ${Python3_EXECUTABLE} ${test_dir}/policy_guide.py ${guide} ${file} ${out}
    DEPENDS ${guide} ${test_dir}/policy_guide.py)
  list(APPEND guide_code ${out})
endforeach()
pleat_unit_test(policy-guide SOURCES ${guide_code} ${test_dir}/policy_bench.c DEPS pleat-policy)
target_include_directories(test-policy-guide PRIVATE ${test_dir})
target_compile_options(test-policy-guide PRIVATE
  "SHELL:-include policy/policies.h" "SHELL:-include ${CMAKE_CURRENT_BINARY_DIR}/guide/policies.def")
add_test(NAME unit-policy-table
  COMMAND ${Python3_EXECUTABLE} ${test_dir}/policy_guide.py check ${CMAKE_SOURCE_DIR})
set_tests_properties(unit-policy-table PROPERTIES LABELS unit)

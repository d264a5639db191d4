# A site and a runner that exist only as numbers, and a world made of them.
set(support_dir ${CMAKE_CURRENT_SOURCE_DIR}/support)
add_library(pleat-test-world STATIC
  ${support_dir}/fake_runner.c ${support_dir}/fake_site.c ${support_dir}/world.c
  ${support_dir}/world_log.c ${support_dir}/world_processes.c)
target_include_directories(pleat-test-world PUBLIC ${support_dir})
pleat_find(cmocka cmocka)
target_link_libraries(pleat-test-world PUBLIC pleat-core pleat-site pleat-runner PkgConfig::cmocka)

pleat_unit_test(core-random SOURCES ${test_dir}/core_random.c DEPS pleat-test-world)
pleat_unit_test(core-storm SOURCES ${test_dir}/core_storm_test.c DEPS pleat-test-world)

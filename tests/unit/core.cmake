add_library(pleat-test-world STATIC ${CMAKE_CURRENT_SOURCE_DIR}/support/world.c)
target_include_directories(pleat-test-world PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/support)
pleat_find(cmocka cmocka)
target_link_libraries(pleat-test-world PUBLIC pleat-core pleat-site pleat-runner PkgConfig::cmocka)

pleat_unit_test(core-random SOURCES ${test_dir}/core_random.c DEPS pleat-test-world)

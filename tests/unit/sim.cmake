pleat_unit_test(sim SOURCES ${test_dir}/sim_test.c DEPS pleat-sim)
# workload logs to check against, where somebody has them (they are not part of Pleat)
set(PLEAT_TEST_LOGS "${CMAKE_SOURCE_DIR}/../shared/data" CACHE PATH "directory with workload logs")
set_tests_properties(unit-sim PROPERTIES ENVIRONMENT "PLEAT_TEST_LOGS=${PLEAT_TEST_LOGS}")

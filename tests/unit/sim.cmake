pleat_unit_test(sim SOURCES ${test_dir}/sim_test.c DEPS pleat-sim)
pleat_unit_test(sim-random SOURCES ${test_dir}/sim_random_test.c DEPS pleat-sim m)

pleat_unit_test(sim SOURCES ${test_dir}/sim_test.c DEPS pleat-sim)

pleat_unit_test(sim SOURCES ${test_dir}/sim_test.c DEPS pleat-sim)
pleat_unit_test(sim-apps SOURCES ${test_dir}/sim_apps_test.c DEPS pleat-sim m)
pleat_unit_test(sim-sites SOURCES ${test_dir}/sim_sites_test.c DEPS pleat-sim m)
pleat_unit_test(sim-random SOURCES ${test_dir}/sim_random_test.c DEPS pleat-sim m)

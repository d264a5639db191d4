pleat_unit_test(experiment SOURCES ${test_dir}/experiment_test.c DEPS pleat-experiment)

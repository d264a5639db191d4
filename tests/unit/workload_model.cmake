pleat_unit_test(workload-model SOURCES ${test_dir}/workload_model_test.c DEPS pleat-model)

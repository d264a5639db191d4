pleat_unit_test(workload-convert SOURCES ${test_dir}/workload_convert_test.c DEPS pleat-workload)
pleat_unit_test(workload-describe SOURCES ${test_dir}/workload_describe_test.c DEPS pleat-workload)
pleat_unit_test(workload-statistics SOURCES ${test_dir}/workload_statistics_test.c
  DEPS pleat-workload m)

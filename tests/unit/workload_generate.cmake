pleat_unit_test(workload-distribution SOURCES ${test_dir}/workload_distribution_test.c
  DEPS pleat-workload m)
pleat_unit_test(workload-generate SOURCES ${test_dir}/workload_generate_test.c DEPS pleat-workload m)
pleat_unit_test(workload-lublin SOURCES ${test_dir}/workload_lublin_test.c DEPS pleat-workload m)
target_compile_definitions(test-workload-lublin PRIVATE
  SHARED_DATA="${CMAKE_SOURCE_DIR}/../shared/data")
pleat_unit_test(workload-estimate SOURCES ${test_dir}/workload_estimate_test.c DEPS pleat-workload m)
pleat_unit_test(workload-utrera SOURCES ${test_dir}/workload_utrera_test.c DEPS pleat-workload m)
pleat_unit_test(workload-grid SOURCES ${test_dir}/workload_grid_test.c DEPS pleat-workload m)
pleat_unit_test(workload-generate-memory SOURCES ${test_dir}/workload_generate_memory_test.c
  DEPS pleat-workload)
target_link_options(test-workload-generate-memory PRIVATE
  -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup)

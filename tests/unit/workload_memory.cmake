pleat_unit_test(workload-memory SOURCES ${test_dir}/workload_memory_test.c DEPS pleat-workload)
target_link_options(test-workload-memory PRIVATE -Wl,--wrap=malloc,--wrap=realloc)

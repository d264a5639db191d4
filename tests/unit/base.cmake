pleat_unit_test(base-heap SOURCES ${test_dir}/base_heap_test.c DEPS pleat-base)
pleat_unit_test(base-random SOURCES ${test_dir}/base_random_test.c DEPS pleat-base)
pleat_unit_test(base-paths SOURCES ${test_dir}/base_paths_test.c DEPS pleat-base)
pleat_unit_test(base-array SOURCES ${test_dir}/base_array_test.c DEPS pleat-base)

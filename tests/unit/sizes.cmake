pleat_unit_test(sizes SOURCES ${test_dir}/sizes_test.c DEPS pleat-model)

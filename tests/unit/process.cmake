pleat_unit_test(process SOURCES ${test_dir}/process_test.c DEPS pleat-process pleat-base)

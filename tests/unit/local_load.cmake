pleat_unit_test(local-load SOURCES ${test_dir}/local_load_test.c DEPS pleat-site)

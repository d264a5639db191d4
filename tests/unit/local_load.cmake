pleat_unit_test(local-load SOURCES ${test_dir}/local_load_test.c DEPS pleat-site)
pleat_unit_test(claimbook SOURCES ${test_dir}/claimbook_test.c DEPS pleat-site pleat-model pleat-base)
pleat_unit_test(local-split SOURCES ${test_dir}/local_split_test.c DEPS pleat-site pleat-base)

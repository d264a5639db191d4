pleat_unit_test(store SOURCES ${test_dir}/store_test.c DEPS pleat-store)
pleat_unit_test(store-failure SOURCES ${test_dir}/store_failure_test.c DEPS pleat-store)
pleat_unit_test(store-salvage SOURCES ${test_dir}/store_salvage_test.c DEPS pleat-store)
pleat_unit_test(store-archive SOURCES ${test_dir}/store_archive_test.c DEPS pleat-store)

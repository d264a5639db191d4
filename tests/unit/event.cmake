pleat_unit_test(event SOURCES ${test_dir}/event_test.c DEPS pleat-model)

pleat_unit_test(adapter-pace SOURCES ${test_dir}/adapter_pace_test.c DEPS pleat-adapter)

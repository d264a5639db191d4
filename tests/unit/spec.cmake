pleat_unit_test(spec SOURCES ${test_dir}/spec_test.c DEPS pleat-wire)

pleat_unit_test(config-parse SOURCES ${test_dir}/config_parse_test.c DEPS pleat-config)

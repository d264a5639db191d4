pleat_unit_test(command
  SOURCES ${test_dir}/command_test.c DEPS pleat-command)

pleat_unit_test(gridengine
  SOURCES ${test_dir}/gridengine_test.c DEPS pleat-gridengine-base)

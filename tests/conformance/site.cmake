pleat_unit_test(site LABEL conformance
  SOURCES ${test_dir}/site.c ${test_dir}/host.c DEPS pleat-test-world)

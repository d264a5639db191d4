pleat_unit_test(site LABEL conformance
  SOURCES ${test_dir}/site.c ${test_dir}/host.c ${test_dir}/played_slurm.c
  DEPS pleat-test-world pleat-wire PkgConfig::jansson)

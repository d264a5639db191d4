pleat_unit_test(site-load LABEL conformance
  SOURCES ${test_dir}/site_load.c ${test_dir}/host.c ${test_dir}/played_slurm.c
  DEPS pleat-test-world pleat-wire PkgConfig::jansson)

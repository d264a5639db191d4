pleat_unit_test(slurm
  SOURCES ${test_dir}/slurm_test.c DEPS pleat-slurm-base)

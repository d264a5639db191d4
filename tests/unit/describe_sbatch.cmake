pleat_unit_test(describe-sbatch SOURCES ${test_dir}/describe_sbatch_test.c DEPS pleat-describe)

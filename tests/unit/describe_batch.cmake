pleat_unit_test(describe-batch SOURCES ${test_dir}/describe_batch_test.c DEPS pleat-describe)

pleat_unit_test(describe-submission SOURCES ${test_dir}/describe_submission_test.c
  DEPS pleat-describe)

pleat_unit_test(indexes SOURCES ${test_dir}/indexes_test.c DEPS pleat-model)
pleat_unit_test(spec SOURCES ${test_dir}/spec_test.c DEPS pleat-wire)
pleat_unit_test(submission SOURCES ${test_dir}/submission_test.c DEPS pleat-model)
pleat_unit_test(way SOURCES ${test_dir}/way_test.c DEPS pleat-model)

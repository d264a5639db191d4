pleat_unit_test(checkpoint SOURCES ${test_dir}/checkpoint_test.c DEPS pleat-checkpoint)

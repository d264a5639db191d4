pleat_unit_test(fold SOURCES ${test_dir}/fold_test.c DEPS pleat-shm)
pleat_unit_test(fold-turn
  SOURCES ${test_dir}/fold_turn_test.c ${test_dir}/fold_children.c DEPS pleat-fold)
pleat_unit_test(fold-harm
  SOURCES ${test_dir}/fold_harm_test.c ${test_dir}/fold_children.c DEPS pleat-fold)
pleat_unit_test(fold-threads
  SOURCES ${test_dir}/fold_threads_test.c ${test_dir}/fold_children.c DEPS pleat-fold)
pleat_unit_test(fold-pool
  SOURCES ${test_dir}/fold_pool_test.c ${test_dir}/fold_children.c DEPS pleat-fold)

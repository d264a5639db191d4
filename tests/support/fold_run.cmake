# fold-run: runs a program folded without a daemon; for measuring and for tests, not installed.
pleat_program(fold-run
  SOURCES ${test_dir}/fold_run/main.c ${test_dir}/fold_run/options.c ${test_dir}/fold_run/bind.c
  DEPS pleat-shm pleat-agent-base)

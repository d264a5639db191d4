pleat_unit_test(cli-batch
  SOURCES ${test_dir}/cli_batch_test.c ${CMAKE_SOURCE_DIR}/src/cli/batch.c
    ${CMAKE_SOURCE_DIR}/src/cli/words.c
  DEPS pleat-base)

pleat_unit_test(cli-sbatch
  SOURCES ${test_dir}/cli_sbatch_test.c ${CMAKE_SOURCE_DIR}/src/cli/sbatch.c
    ${CMAKE_SOURCE_DIR}/src/cli/words.c
  DEPS pleat-base)

pleat_fuzz(batch DEPS pleat-base
  TEST_SOURCES ${CMAKE_SOURCE_DIR}/src/cli/batch.c ${CMAKE_SOURCE_DIR}/src/cli/words.c
  READER cli/batch.c cli/words.c)

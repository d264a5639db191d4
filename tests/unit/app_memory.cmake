pleat_unit_test(app-memory
  SOURCES ${test_dir}/app_memory_test.c ${CMAKE_SOURCE_DIR}/src/app/memory.c ${CMAKE_SOURCE_DIR}/src/app/memory-ahead.c
  DEPS pleat-shm pleat-base)

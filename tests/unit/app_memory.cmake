pleat_unit_test(app-memory
  SOURCES ${test_dir}/app_memory_test.c ${CMAKE_SOURCE_DIR}/src/app/memory.c ${CMAKE_SOURCE_DIR}/src/app/memory-ahead.c
  DEPS pleat-shm pleat-base)
find_package(Threads REQUIRED)
pleat_unit_test(app-freeing
  SOURCES ${test_dir}/app_freeing_test.c ${CMAKE_SOURCE_DIR}/src/app/freeing.c
  DEPS pleat-base Threads::Threads)
target_link_options(test-app-freeing PRIVATE -Wl,--wrap=pthread_create)

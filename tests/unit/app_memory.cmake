pleat_unit_test(app-memory
  SOURCES ${test_dir}/app_memory_test.c ${CMAKE_SOURCE_DIR}/src/app/memory.c DEPS pleat-base)

pleat_unit_test(waiting
  SOURCES ${test_dir}/waiting_test.c ${CMAKE_SOURCE_DIR}/src/daemon/waiting.c
  DEPS pleat-core pleat-policy pleat-model pleat-base m)

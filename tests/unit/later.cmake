pleat_unit_test(later
  SOURCES ${test_dir}/later_test.c ${CMAKE_SOURCE_DIR}/src/daemon/later.c
  DEPS pleat-base PkgConfig::libuv)

pleat_find(confuse libconfuse)
pleat_unit_test(config
  SOURCES ${test_dir}/config_test.c ${CMAKE_SOURCE_DIR}/src/daemon/config.c
  DEPS pleat-site pleat-core pleat-policy pleat-base PkgConfig::confuse m)
target_compile_definitions(test-config PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")

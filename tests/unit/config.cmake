pleat_unit_test(config
  SOURCES ${test_dir}/config_test.c ${CMAKE_SOURCE_DIR}/src/daemon/config.c ${CMAKE_SOURCE_DIR}/src/daemon/config_site.c
  DEPS pleat-wire pleat-site pleat-core pleat-policy pleat-config pleat-base m)
target_compile_definitions(test-config PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")

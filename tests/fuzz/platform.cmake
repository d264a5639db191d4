pleat_find(confuse libconfuse)
pleat_fuzz(platform DEPS pleat-sim pleat-base PkgConfig::confuse m
  TEST_SOURCES ${CMAKE_SOURCE_DIR}/src/cli/sim/platform_file.c
  READER cli/sim/platform_file.c base/config_text.c)

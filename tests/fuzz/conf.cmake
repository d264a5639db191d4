pleat_find(confuse libconfuse)
pleat_fuzz(conf DEPS pleat-site pleat-core pleat-policy pleat-base PkgConfig::confuse m
  TEST_SOURCES ${CMAKE_SOURCE_DIR}/src/daemon/config.c
  READER daemon/config.c base/config_text.c)

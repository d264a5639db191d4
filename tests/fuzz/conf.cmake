pleat_fuzz(conf DEPS pleat-site pleat-core pleat-policy pleat-config pleat-base m
  TEST_SOURCES ${CMAKE_SOURCE_DIR}/src/daemon/config.c
  READER daemon/config.c config/parse.c config/text.c)

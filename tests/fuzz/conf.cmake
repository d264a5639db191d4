pleat_fuzz(conf DEPS pleat-wire pleat-site pleat-core pleat-policy pleat-config pleat-base m
  TEST_SOURCES ${CMAKE_SOURCE_DIR}/src/daemon/config.c ${CMAKE_SOURCE_DIR}/src/daemon/config_site.c
  READER daemon/config.c daemon/config_site.c site/option.c config/parse.c config/text.c)

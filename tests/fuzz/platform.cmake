pleat_fuzz(platform DEPS pleat-sim pleat-workload pleat-config pleat-base m
  TEST_SOURCES ${CMAKE_SOURCE_DIR}/src/cli/sim/load_trace.c
    ${CMAKE_SOURCE_DIR}/src/cli/sim/platform_file.c ${CMAKE_SOURCE_DIR}/src/cli/sim/span.c
  READER cli/sim/load_trace.c cli/sim/platform_file.c cli/sim/span.c config/parse.c config/text.c)

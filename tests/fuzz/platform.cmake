pleat_fuzz(platform DEPS pleat-scenario pleat-sim pleat-workload pleat-config pleat-base m
  READER scenario/load_trace.c scenario/platform_file.c scenario/span.c config/parse.c config/text.c)

pleat_find(jansson jansson)
pleat_unit_test(cli-sim
  SOURCES ${test_dir}/cli_sim_test.c ${CMAKE_SOURCE_DIR}/src/experiment/curve.c
    ${CMAKE_SOURCE_DIR}/src/cli/sim/load_trace.c
    ${CMAKE_SOURCE_DIR}/src/cli/sim/platform_file.c ${CMAKE_SOURCE_DIR}/src/cli/sim/span.c
  DEPS pleat-sim pleat-workload pleat-config pleat-base PkgConfig::jansson m)

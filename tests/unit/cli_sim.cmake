pleat_find(jansson jansson)
pleat_unit_test(cli-sim
  SOURCES ${test_dir}/cli_sim_test.c ${CMAKE_SOURCE_DIR}/src/experiment/curve.c
  DEPS pleat-scenario pleat-sim pleat-workload pleat-config pleat-base PkgConfig::jansson m)

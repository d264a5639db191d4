pleat_unit_test(plot-thin
  SOURCES ${test_dir}/plot_thin_test.c ${CMAKE_SOURCE_DIR}/src/figure/plot_thin.c
  DEPS pleat-base m)

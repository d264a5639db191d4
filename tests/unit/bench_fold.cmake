# What the benchmark of folding makes of its measurements.
if(TARGET bench-fold)
  pleat_unit_test(bench-fold SOURCES ${CMAKE_CURRENT_LIST_DIR}/bench_fold_test.c
    ${CMAKE_SOURCE_DIR}/bench/fold/change.c DEPS bench-fold)
  target_include_directories(test-bench-fold PRIVATE ${CMAKE_SOURCE_DIR}/bench/fold)
endif()

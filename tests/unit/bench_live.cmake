# What stands beside live runs: simulations fed with measured times.
if(TARGET bench-live)
  pleat_unit_test(bench-live SOURCES ${CMAKE_CURRENT_LIST_DIR}/bench_live_test.c
    ${CMAKE_SOURCE_DIR}/bench/fold/eval_answers.c DEPS bench-live)
  target_include_directories(test-bench-live PRIVATE ${CMAKE_SOURCE_DIR}/bench/fold)
endif()

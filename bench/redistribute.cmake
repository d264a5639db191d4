# What moving a block-cyclic matrix between process grids costs, against memcpy.
add_executable(bench_redistribute ${CMAKE_CURRENT_SOURCE_DIR}/redistribute/bench_redistribute.c
  ${CMAKE_CURRENT_SOURCE_DIR}/options.c ${CMAKE_CURRENT_SOURCE_DIR}/report.c)
target_include_directories(bench_redistribute PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(bench_redistribute PRIVATE pleat-dist)
set_target_properties(bench_redistribute PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)

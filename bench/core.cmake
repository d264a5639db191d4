# Events per second through the core.
add_executable(bench_core ${CMAKE_CURRENT_SOURCE_DIR}/core/bench_core.c
  ${CMAKE_CURRENT_SOURCE_DIR}/options.c ${CMAKE_CURRENT_SOURCE_DIR}/report.c)
target_include_directories(bench_core PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(bench_core PRIVATE pleat-core)
pleat_link_benchmark(bench_core)
set_target_properties(bench_core PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)

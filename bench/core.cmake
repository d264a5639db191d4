add_executable(bench_core ${CMAKE_CURRENT_SOURCE_DIR}/core/bench_core.c)
target_link_libraries(bench_core PRIVATE pleat-core)
set_target_properties(bench_core PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)

# Iterations that a search for the best size costs.
add_executable(bench_sweetspot ${CMAKE_CURRENT_SOURCE_DIR}/sweetspot/bench_sweetspot.c
  ${CMAKE_CURRENT_SOURCE_DIR}/sweetspot/search.c
  ${CMAKE_CURRENT_SOURCE_DIR}/options.c ${CMAKE_CURRENT_SOURCE_DIR}/report.c)
target_include_directories(bench_sweetspot PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(bench_sweetspot PRIVATE pleat-sim)
set_target_properties(bench_sweetspot PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)

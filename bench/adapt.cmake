# What an adaptation point costs at which nothing happens.
add_executable(bench_adapt ${CMAKE_CURRENT_SOURCE_DIR}/adapt/bench_adapt.c
  ${CMAKE_CURRENT_SOURCE_DIR}/report.c)
target_include_directories(bench_adapt PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(bench_adapt PRIVATE pleat-shm)
set_target_properties(bench_adapt PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)

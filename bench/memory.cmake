# What the memory of rows costs to map, with ordinary and huge pages, and how the kernel counts it.
add_executable(bench_memory ${CMAKE_CURRENT_SOURCE_DIR}/memory/bench_memory.c
  ${CMAKE_CURRENT_SOURCE_DIR}/options.c ${CMAKE_CURRENT_SOURCE_DIR}/report.c ${CMAKE_SOURCE_DIR}/src/app/memory.c)
target_include_directories(bench_memory PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(bench_memory PRIVATE pleat-base)
set_target_properties(bench_memory PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)

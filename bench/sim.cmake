# Jobs per second through the simulator.
add_executable(bench_sim ${CMAKE_CURRENT_SOURCE_DIR}/sim/bench_sim.c
  ${CMAKE_CURRENT_SOURCE_DIR}/sim/bare.c ${CMAKE_CURRENT_SOURCE_DIR}/sim/cases.c
  ${CMAKE_CURRENT_SOURCE_DIR}/options.c ${CMAKE_CURRENT_SOURCE_DIR}/report.c)
target_include_directories(bench_sim PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(bench_sim PRIVATE pleat-sim pleat-workload)
pleat_link_benchmark(bench_sim)
set_target_properties(bench_sim PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)

# What stands beside live runs of an application that asks for processes.
if(TARGET bench-live AND TARGET bench_demand_app)
  pleat_unit_test(bench-demand SOURCES ${CMAKE_CURRENT_LIST_DIR}/bench_demand_test.c
    ${CMAKE_SOURCE_DIR}/bench/demand/demand_policies.c ${CMAKE_SOURCE_DIR}/bench/demand/demand_sim.c DEPS bench-live pleat-core pleat-policy)
endif()

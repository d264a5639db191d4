# How long resizes let a program stand still, by the size of its state, and what they cost another job.
if(PLEAT_MPI)
  set(pause_dir ${CMAKE_CURRENT_SOURCE_DIR}/pause)
  add_executable(bench_pause ${pause_dir}/bench_pause.c ${pause_dir}/pause_report.c
    ${CMAKE_CURRENT_SOURCE_DIR}/options.c ${CMAKE_CURRENT_SOURCE_DIR}/report.c ${CMAKE_CURRENT_SOURCE_DIR}/job.c ${CMAKE_SOURCE_DIR}/tests/system/app_job.c
    ${CMAKE_SOURCE_DIR}/tests/support/marked.c)
  target_include_directories(bench_pause PRIVATE
    ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/system)
  target_compile_definitions(bench_pause PRIVATE
    BENCH_LOOP="$<TARGET_FILE:app-loop>" BENCH_HEAT="$<TARGET_FILE:app-heat>")
  target_link_libraries(bench_pause PRIVATE pleat-shm m)
  add_dependencies(bench_pause app-loop app-heat)
  if(TARGET pleat-mpich)
    target_compile_definitions(bench_pause PRIVATE
      BENCH_MPICH_LOOP="$<TARGET_FILE:app-mpich-loop>" BENCH_MPICH_HEAT="$<TARGET_FILE:app-mpich-heat>")
    add_dependencies(bench_pause app-mpich-loop app-mpich-heat)
  endif()
  set_target_properties(bench_pause PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endif()

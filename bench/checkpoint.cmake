# How long a checkpoint is written and read, against plain writing and reading of the same bytes.
if(PLEAT_MPI)
  add_executable(bench_checkpoint ${CMAKE_CURRENT_SOURCE_DIR}/checkpoint/bench_checkpoint.c
    ${CMAKE_CURRENT_SOURCE_DIR}/options.c ${CMAKE_CURRENT_SOURCE_DIR}/report.c ${CMAKE_CURRENT_SOURCE_DIR}/job.c
    ${CMAKE_SOURCE_DIR}/tests/system/app_job.c ${CMAKE_SOURCE_DIR}/tests/support/marked.c)
  target_include_directories(bench_checkpoint PRIVATE
    ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/system)
  target_compile_definitions(bench_checkpoint PRIVATE BENCH_LOOP="$<TARGET_FILE:app-loop>")
  target_link_libraries(bench_checkpoint PRIVATE pleat-shm)
  add_dependencies(bench_checkpoint app-loop)
  if(TARGET pleat-mpich)
    target_compile_definitions(bench_checkpoint PRIVATE
      BENCH_MPICH_LOOP="$<TARGET_FILE:app-mpich-loop>")
    add_dependencies(bench_checkpoint app-mpich-loop)
  endif()
  set_target_properties(bench_checkpoint PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endif()

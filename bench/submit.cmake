# Jobs per second that are submitted durably, against bare commits of SQLite, and against sbatch.
pleat_find(sqlite3 sqlite3)
pleat_find(jansson jansson)
find_package(Threads REQUIRED)
add_executable(bench_submit ${CMAKE_CURRENT_SOURCE_DIR}/submit/bench_submit.c
  ${CMAKE_CURRENT_SOURCE_DIR}/submit/commands.c ${CMAKE_CURRENT_SOURCE_DIR}/submit/slurm.c
  ${CMAKE_CURRENT_SOURCE_DIR}/options.c ${CMAKE_CURRENT_SOURCE_DIR}/report.c)
target_include_directories(bench_submit PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(bench_submit PRIVATE BENCH_PLEATD="$<TARGET_FILE:pleatd>"
  BENCH_PLEAT="$<TARGET_FILE:pleat>")
target_link_libraries(bench_submit PRIVATE pleat-client pleat-base PkgConfig::sqlite3
  PkgConfig::jansson Threads::Threads)
add_dependencies(bench_submit pleat pleatd pleat-agent)
set_target_properties(bench_submit PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)

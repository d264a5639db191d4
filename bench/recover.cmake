# How long a daemon takes from its start to its first answer, against reading the same rows.
pleat_find(sqlite3 sqlite3)
pleat_find(jansson jansson)
add_executable(bench_recover ${CMAKE_CURRENT_SOURCE_DIR}/recover/bench_recover.c
  ${CMAKE_CURRENT_SOURCE_DIR}/recover/make_log.c ${CMAKE_CURRENT_SOURCE_DIR}/options.c ${CMAKE_CURRENT_SOURCE_DIR}/report.c)
target_include_directories(bench_recover PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(bench_recover PRIVATE BENCH_PLEATD="$<TARGET_FILE:pleatd>")
target_link_libraries(bench_recover PRIVATE pleat-client pleat-core pleat-policy pleat-store
  pleat-model pleat-base PkgConfig::sqlite3 PkgConfig::jansson)
add_dependencies(bench_recover pleatd pleat-agent)
pleat_link_benchmark(bench_recover)
set_target_properties(bench_recover PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)

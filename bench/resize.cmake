# What a resize costs, against the same in plain MPI.
if(PLEAT_MPI)
  set(resize_dir ${CMAKE_SOURCE_DIR}/bench/resize)
  pleat_find(ompi ompi-c)
  add_executable(resize_bare ${resize_dir}/resize_bare.c)
  target_link_libraries(resize_bare PRIVATE PkgConfig::ompi)
  add_executable(bench_resize ${resize_dir}/bench_resize.c
    ${CMAKE_SOURCE_DIR}/tests/system/app_job.c)
  target_include_directories(bench_resize PRIVATE ${CMAKE_SOURCE_DIR}/tests/system)
  target_compile_definitions(bench_resize PRIVATE
    BENCH_LOOP="$<TARGET_FILE:app-loop>" BENCH_BARE="$<TARGET_FILE:resize_bare>")
  target_link_libraries(bench_resize PRIVATE pleat-shm)
  add_dependencies(bench_resize resize_bare app-loop)
  set_target_properties(resize_bare bench_resize PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endif()

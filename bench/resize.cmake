# What a resize costs, against the same in plain MPI and against relaunching.
if(PLEAT_MPI)
  set(resize_dir ${CMAKE_SOURCE_DIR}/bench/resize)
  pleat_find(ompi ompi-c)
  foreach(program resize_bare resize_relaunch)
    add_executable(${program} ${resize_dir}/${program}.c ${resize_dir}/bare.c)
    target_link_libraries(${program} PRIVATE PkgConfig::ompi m)
  endforeach()
  add_executable(bench_resize ${resize_dir}/bench_resize.c
    ${CMAKE_SOURCE_DIR}/bench/report.c ${CMAKE_SOURCE_DIR}/tests/system/app_job.c)
  target_include_directories(bench_resize PRIVATE
    ${CMAKE_SOURCE_DIR}/bench ${CMAKE_SOURCE_DIR}/tests/system)
  target_compile_definitions(bench_resize PRIVATE
    BENCH_LOOP="$<TARGET_FILE:app-loop>" BENCH_HEAT="$<TARGET_FILE:app-heat>"
    BENCH_BARE="$<TARGET_FILE:resize_bare>" BENCH_RELAUNCH="$<TARGET_FILE:resize_relaunch>")
  target_link_libraries(bench_resize PRIVATE pleat-shm m)
  add_dependencies(bench_resize resize_bare resize_relaunch app-loop app-heat)
  set_target_properties(resize_bare resize_relaunch bench_resize PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endif()

# What a resize costs, against the same in plain MPI and against relaunching.
if(PLEAT_MPI)
  set(resize_dir ${CMAKE_SOURCE_DIR}/bench/resize)
  pleat_find(ompi ompi-c)
  foreach(program resize_bare resize_relaunch)
    add_executable(${program} ${resize_dir}/${program}.c ${resize_dir}/bare.c)
    target_link_libraries(${program} PRIVATE PkgConfig::ompi m)
  endforeach()
  add_executable(bench_resize ${resize_dir}/bench_resize.c
    ${resize_dir}/resize_report.c ${CMAKE_SOURCE_DIR}/bench/options.c ${CMAKE_SOURCE_DIR}/bench/report.c ${CMAKE_SOURCE_DIR}/bench/job.c
    ${CMAKE_SOURCE_DIR}/tests/system/app_job.c
    ${CMAKE_SOURCE_DIR}/tests/support/marked.c)
  target_include_directories(bench_resize PRIVATE
    ${CMAKE_SOURCE_DIR}/bench ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/system)
  target_compile_definitions(bench_resize PRIVATE
    BENCH_LOOP="$<TARGET_FILE:app-loop>" BENCH_HEAT="$<TARGET_FILE:app-heat>"
    BENCH_BARE="$<TARGET_FILE:resize_bare>" BENCH_RELAUNCH="$<TARGET_FILE:resize_relaunch>")
  target_link_libraries(bench_resize PRIVATE pleat-shm m)
  add_dependencies(bench_resize resize_bare resize_relaunch app-loop app-heat)
  if(TARGET pleat-mpich)
    add_executable(resize_relaunch_mpich ${resize_dir}/resize_relaunch.c ${resize_dir}/bare.c)
    target_link_libraries(resize_relaunch_mpich PRIVATE PkgConfig::mpich m)
    set_target_properties(resize_relaunch_mpich PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    target_compile_definitions(bench_resize PRIVATE
      BENCH_MPICH_LOOP="$<TARGET_FILE:app-mpich-loop>"
      BENCH_MPICH_HEAT="$<TARGET_FILE:app-mpich-heat>"
      BENCH_MPICH_RELAUNCH="$<TARGET_FILE:resize_relaunch_mpich>")
    add_dependencies(bench_resize resize_relaunch_mpich app-mpich-loop app-mpich-heat)
  endif()
  set_target_properties(resize_bare resize_relaunch bench_resize PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endif()

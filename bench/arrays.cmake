# What it costs to resize a program with a 2-D block-cyclic matrix, against ScaLAPACK's pdgemr2d.
if(PLEAT_MPI)
  set(arrays_dir ${CMAKE_CURRENT_SOURCE_DIR}/arrays)
  add_executable(arrays_pleat ${arrays_dir}/arrays_pleat.c)
  target_link_libraries(arrays_pleat PRIVATE pleat-openmpi)
  find_package(Threads REQUIRED)
  add_executable(bench_arrays ${arrays_dir}/bench_arrays.c ${CMAKE_CURRENT_SOURCE_DIR}/options.c ${CMAKE_CURRENT_SOURCE_DIR}/report.c
    ${CMAKE_CURRENT_SOURCE_DIR}/job.c ${CMAKE_SOURCE_DIR}/tests/system/app_job.c ${CMAKE_SOURCE_DIR}/tests/support/marked.c)
  target_include_directories(bench_arrays PRIVATE
    ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/system)
  target_compile_definitions(bench_arrays PRIVATE BENCH_ARRAYS="$<TARGET_FILE:arrays_pleat>")
  target_link_libraries(bench_arrays PRIVATE pleat-shm Threads::Threads)
  add_dependencies(bench_arrays arrays_pleat)
  set_target_properties(arrays_pleat bench_arrays PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  find_library(PLEAT_SCALAPACK_openmpi scalapack-openmpi)
  if(PLEAT_SCALAPACK_openmpi)
    pleat_find(ompi ompi-c)
    add_executable(arrays_gemr2d ${arrays_dir}/arrays_gemr2d.c)
    target_link_libraries(arrays_gemr2d PRIVATE ${PLEAT_SCALAPACK_openmpi} PkgConfig::ompi)
    set_target_properties(arrays_gemr2d PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    target_compile_definitions(bench_arrays PRIVATE BENCH_GEMR2D="$<TARGET_FILE:arrays_gemr2d>")
    add_dependencies(bench_arrays arrays_gemr2d)
  endif()
endif()

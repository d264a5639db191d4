# src/dist against ScaLAPACK's pdgemr2d, with real MPI processes.
function(dist_reference mpi target launcher ranks cases)
  find_library(PLEAT_SCALAPACK_${mpi} scalapack-${mpi})
  find_program(PLEAT_LAUNCHER_${mpi} ${launcher})
  if(NOT PLEAT_SCALAPACK_${mpi} OR NOT PLEAT_LAUNCHER_${mpi})
    return()
  endif()
  add_executable(dist-reference-${mpi} ${test_dir}/dist/reference.c)
  target_include_directories(dist-reference-${mpi} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(dist-reference-${mpi} PRIVATE pleat-dist ${PLEAT_SCALAPACK_${mpi}} ${target})
  set_target_properties(dist-reference-${mpi} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME system-dist-reference-${mpi} COMMAND ${PLEAT_LAUNCHER_${mpi}} ${ARGN} -n ${ranks}
    $<TARGET_FILE:dist-reference-${mpi}> ${cases})
  set_tests_properties(system-dist-reference-${mpi} PROPERTIES LABELS system TIMEOUT 180
    PASS_REGULAR_EXPRESSION "${cases} redistributions on ${ranks} ranks: the same"
    ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OPENBLAS_NUM_THREADS=1")
endfunction()

if(TARGET PkgConfig::ompi)
  dist_reference(openmpi PkgConfig::ompi mpirun.openmpi 8 25 --oversubscribe)
endif()
if(TARGET PkgConfig::mpich)
  dist_reference(mpich PkgConfig::mpich mpiexec.mpich 2 12) # its ranks wait by computing
endif()

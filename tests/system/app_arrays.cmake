# Arrays of libpleat, and data whose size changes, with real MPI processes.
function(app_yields name) # see app.cmake
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:test-app-yield>")
endfunction()

function(app_data program mpi library)
  if(NOT TARGET ${library})
    return()
  endif()
  add_executable(test-app-${program}-${mpi} ${test_dir}/app_${program}.c ${test_dir}/app_crash.c)
  target_link_libraries(test-app-${program}-${mpi} PRIVATE ${library})
  set_target_properties(test-app-${program}-${mpi} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests ENABLE_EXPORTS ON)
  add_dependencies(test-app-arrays-driver test-app-${program}-${mpi})
  foreach(scenario ${ARGN})
    string(REPLACE "+copies" "" bare ${scenario})
    set(words ${bare} ${mpi} $<TARGET_FILE:test-app-${program}-${mpi}>)
    set(name system-app-${program}-${mpi}-${bare})
    if(NOT bare STREQUAL scenario)
      list(APPEND words copies)
      string(APPEND name -copies)
    endif()
    add_test(NAME ${name} COMMAND test-app-arrays-driver ${words})
    set_tests_properties(${name} PROPERTIES LABELS system TIMEOUT 180)
    app_yields(${name})
  endforeach()
  if(program STREQUAL "arrays")
    add_test(NAME system-app-cut-off-${mpi} COMMAND ${Python3_EXECUTABLE} ${test_dir}/app_cut_off.py
      $<TARGET_FILE:test-app-arrays-driver> resizes ${mpi} $<TARGET_FILE:test-app-${program}-${mpi}>)
    set_tests_properties(system-app-cut-off-${mpi} PROPERTIES LABELS system TIMEOUT 180)
    app_yields(system-app-cut-off-${mpi})
  endif()
endfunction()

# A program that computes with ScaLAPACK, which libpleat itself does not know.
function(app_scalapack mpi library)
  find_library(PLEAT_SCALAPACK_${mpi} scalapack-${mpi})
  if(NOT TARGET ${library} OR NOT PLEAT_SCALAPACK_${mpi})
    return()
  endif()
  add_executable(test-app-scalapack-${mpi} ${test_dir}/app_scalapack.c)
  target_link_libraries(test-app-scalapack-${mpi} PRIVATE ${library} ${PLEAT_SCALAPACK_${mpi}} m)
  set_target_properties(test-app-scalapack-${mpi} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_dependencies(test-app-arrays-driver test-app-scalapack-${mpi})
  add_test(NAME system-app-scalapack-${mpi} COMMAND test-app-arrays-driver scalapack ${mpi}
    $<TARGET_FILE:test-app-scalapack-${mpi}>)
  set_tests_properties(system-app-scalapack-${mpi} PROPERTIES LABELS system TIMEOUT 120
    ENVIRONMENT "OPENBLAS_NUM_THREADS=1")
endfunction()

# Ranks on several nodes, which are all on this machine. Names are PROGRAM:SCENARIO.
function(app_nodes mpi library loop)
  if(NOT TARGET ${library})
    return()
  endif()
  foreach(name ${ARGN})
    string(REPLACE ":" ";" parts ${name})
    list(GET parts 0 program)
    list(GET parts 1 scenario)
    if(program STREQUAL "loop")
      set(words $<TARGET_FILE:${loop}> --rows 997 --halo 2 --state 4M)
      add_dependencies(test-app-nodes-driver ${loop})
    else()
      set(words $<TARGET_FILE:test-app-${program}-${mpi}>)
    endif()
    if(program STREQUAL "slabs")
      set(words $<TARGET_FILE:test-app-arrays-${mpi}> --slabs)
    endif()
    add_test(NAME system-app-nodes-${mpi}-${program}-${scenario}
      COMMAND test-app-nodes-driver ${scenario} ${mpi} ${words})
    set_tests_properties(system-app-nodes-${mpi}-${program}-${scenario} PROPERTIES LABELS system TIMEOUT 300)
    app_yields(system-app-nodes-${mpi}-${program}-${scenario})
  endforeach()
endfunction()

if(PLEAT_MPI)
  add_executable(test-app-nodes-driver ${test_dir}/app_nodes_driver.c
    ${CMAKE_SOURCE_DIR}/tests/support/marked.c)
  target_include_directories(test-app-nodes-driver PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(test-app-nodes-driver PRIVATE pleat-shm)
  set_target_properties(test-app-nodes-driver PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  app_nodes(openmpi pleat-openmpi app-loop loop:grow-and-shrink loop:warm loop:nothing-in-common
    loop:copies loop:checkpoint arrays:warm arrays:copies-stay slabs:copies items:warm)
  app_nodes(mpich pleat-mpich app-mpich-loop loop:warm loop:in-turn loop:nothing-in-common loop:at-random
    loop:copies loop:deaths loop:checkpoint loop:memory
    arrays:deaths-in-relaunch items:deaths-in-relaunch arrays:at-random arrays:checkpoint
    slabs:copies slabs:deaths items:at-random items:copies items:deaths)
  add_executable(test-app-arrays-driver ${test_dir}/app_arrays_driver.c ${test_dir}/app_job.c
    ${CMAKE_SOURCE_DIR}/tests/support/marked.c)
  target_include_directories(test-app-arrays-driver PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(test-app-arrays-driver PRIVATE pleat-shm Threads::Threads)
  set_target_properties(test-app-arrays-driver PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  app_data(arrays openmpi pleat-openmpi resizes resizes+copies relaunches resizes-and-relaunches
    resizes-and-relaunches+copies copy deaths-in-growth deaths-in-shrink no-memory
    no-memory-half-way no-address-space small-files small-files+copies mismatches different-grids narrow)
  app_data(arrays mpich pleat-mpich relaunches relaunches+copies deaths-in-relaunch mismatches narrow)
  app_data(items openmpi pleat-openmpi resizes-and-relaunches resizes+copies copy deaths-in-shrink
    items-refused items-memory items-bound items-ahead items-late-mark items-mismatch items-lost items-checked
    items-moves items-moves+copies)
  app_data(items mpich pleat-mpich relaunches relaunches+copies items-bound items-ahead items-late-mark items-lost)
  app_scalapack(openmpi pleat-openmpi)
  app_scalapack(mpich pleat-mpich)
endif()

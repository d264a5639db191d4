# libpleat with real MPI processes. They wait more than they compute, so two of these tests can run at a time even on two cores.
if(PLEAT_MPI)
  add_library(test-app-die MODULE ${test_dir}/app_die.c)
  target_link_libraries(test-app-die PRIVATE ${CMAKE_DL_LIBS})
  target_compile_options(test-app-die PRIVATE -fvisibility=default)
  add_executable(test-app-driver ${test_dir}/app_driver.c ${test_dir}/app_job.c
    ${CMAKE_SOURCE_DIR}/tests/support/marked.c)
  target_include_directories(test-app-driver PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  # Ranks give way while they wait: in all tests by drivers, where there may be more of them than processors
  add_library(test-app-yield MODULE ${test_dir}/app_yield.c)
  target_link_libraries(test-app-yield PRIVATE ${CMAKE_DL_LIBS})
  target_compile_options(test-app-yield PRIVATE -fvisibility=default)
  target_compile_definitions(test-app-driver PRIVATE
    APP_DIE="$<TARGET_FILE:test-app-die>:$<TARGET_FILE:test-app-yield>")
  target_link_libraries(test-app-driver PRIVATE pleat-shm)
  set_target_properties(test-app-die test-app-yield PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests COMPILE_OPTIONS "-Wno-pedantic")
  set_target_properties(test-app-driver PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  set(programs loop heat matmul fourier nbody)
  foreach(program ${programs})
    add_dependencies(test-app-driver app-${program})
    list(APPEND program_files $<TARGET_FILE:app-${program}>)
    if(TARGET pleat-mpich)
      add_dependencies(test-app-driver app-mpich-${program})
      list(APPEND mpich_program_files $<TARGET_FILE:app-mpich-${program}>)
    endif()
  endforeach()
  set(both limits limits-without-pleat limits-not-met relaunch warm relaunch-large relaunch-more-ranks-than-rows
    relaunch-heat relaunch-matmul relaunch-fourier relaunch-nbody restart-from-held copy-at-each-resize
    restart-from-beginning nowhere-to-save no-room-to-save another-shape another-program announced death-while-saving never-arrives
    death-in-iteration no-mailbox without-pleat)
  foreach(scenario ${both} doubling odd-sizes large-state initial-ranks-leave more-ranks-than-rows
      own-speed again-and-again same-size heat matmul fourier nbody offers offers-taken offers-greedy withdrawals
      end-while-posted death-in-growth joiners-do-not-fit no-room-to-spawn relaunch-and-merge)
    add_test(NAME system-app-${scenario} COMMAND test-app-driver ${scenario} openmpi
      ${program_files})
    set_tests_properties(system-app-${scenario} PROPERTIES
      LABELS system TIMEOUT 180 ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:test-app-yield>")
  endforeach()
  foreach(scenario doubling odd-sizes more-ranks-than-rows large-state relaunch-and-merge heat fourier nbody warm)
    add_test(NAME system-app-copies-${scenario} COMMAND test-app-driver ${scenario} openmpi
      ${program_files} copies)
    set_tests_properties(system-app-copies-${scenario} PROPERTIES
      LABELS system TIMEOUT 180 ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:test-app-yield>")
  endforeach()
  if(TARGET pleat-mpich)
    # every size with every size here only: MPICH starts faster
    foreach(scenario ${both} relaunch-every-size cannot-spawn)
      add_test(NAME system-app-mpich-${scenario} COMMAND test-app-driver ${scenario} mpich
        ${mpich_program_files})
      set_tests_properties(system-app-mpich-${scenario} PROPERTIES
        LABELS system TIMEOUT 180 ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:test-app-yield>")
    endforeach()
  endif()
endif()
if(PLEAT_MPI)
  add_test(NAME system-app-docs COMMAND ${test_dir}/app_docs.sh
    ${CMAKE_SOURCE_DIR}/docs/mpi-programmer.md ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/lib)
  set_tests_properties(system-app-docs PROPERTIES LABELS system TIMEOUT 120)
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
foreach(mpi openmpi mpich)
  if(TARGET pleat-${mpi})
    add_executable(test-app-or-abort-${mpi} ${test_dir}/app_or_abort.c)
    target_link_libraries(test-app-or-abort-${mpi} PRIVATE pleat-${mpi})
    set_target_properties(test-app-or-abort-${mpi} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME system-app-or-abort-${mpi} COMMAND ${Python3_EXECUTABLE} ${test_dir}/app_or_abort.py mpirun.${mpi}
      $<TARGET_FILE:test-app-or-abort-${mpi}>)
    set_tests_properties(system-app-or-abort-${mpi} PROPERTIES LABELS system TIMEOUT 120)
  endif()
endforeach()
add_test(NAME system-app-examples COMMAND ${Python3_EXECUTABLE} ${test_dir}/app_examples.py ${CMAKE_SOURCE_DIR})
set_tests_properties(system-app-examples PROPERTIES LABELS system TIMEOUT 30)

# Programs of apps/ through a list of sizes: app_walks(program sizes arguments...), by each way that the MPI has.
# A program that is not built here (a library is missing) has no test.
if(PLEAT_MPI)
  add_executable(test-app-walk ${test_dir}/app_walk.c ${test_dir}/app_job.c ${CMAKE_SOURCE_DIR}/tests/support/marked.c)
  target_include_directories(test-app-walk PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(test-app-walk PRIVATE pleat-shm)
  target_compile_definitions(test-app-walk PRIVATE
    APP_DIE="$<TARGET_FILE:test-app-die>:$<TARGET_FILE:test-app-yield>")
  set_target_properties(test-app-walk PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  function(app_walks name program sizes)
    set(target_openmpi app-${program})
    set(target_mpich app-mpich-${program})
    foreach(case openmpi-merge openmpi-relaunch mpich-relaunch)
      string(REPLACE "-" ";" parts ${case})
      list(GET parts 0 mpi)
      list(GET parts 1 way)
      if(NOT TARGET ${target_${mpi}})
        continue()
      endif()
      add_dependencies(test-app-walk ${target_${mpi}})
      add_test(NAME system-app-walk-${name}-${case}
        COMMAND test-app-walk ${mpi} ${way} ${sizes} $<TARGET_FILE:${target_${mpi}}> ${ARGN})
      set_tests_properties(system-app-walk-${name}-${case} PROPERTIES
        LABELS system TIMEOUT 180 ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:test-app-yield>")
    endforeach()
  endfunction()
  app_walks(products dense 2,4,3,6,1 --n 96 --iterations 200 --pause 10)
  app_walks(lu dense 2,4,3,6,1 --lu --n 96 --iterations 200 --pause 10)
  app_walks(sparse sparse 2,4,3,6,1 --n 1021 --iterations 260 --pause 8)
  app_walks(workers workers 2,4,3,1,5 --n 16 --iterations 200 --pause 10)
  app_walks(filter filter 2,4,3,6,1 --n 60 --iterations 200 --pause 10)
  app_walks(fourier-fftw fourier-fftw 2,4,8,1 --n 16 --iterations 200 --pause 10)
endif()

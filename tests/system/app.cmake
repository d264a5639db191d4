# libpleat with real MPI processes. Two MPI jobs at a time are enough for a small machine.
if(PLEAT_MPI)
  add_executable(test-app-driver ${test_dir}/app_driver.c ${test_dir}/app_job.c)
  target_link_libraries(test-app-driver PRIVATE pleat-shm)
  set_target_properties(test-app-driver PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_dependencies(test-app-driver app-loop app-heat app-matmul)
  foreach(scenario doubling odd-sizes large-state initial-ranks-leave more-ranks-than-rows own-speed
      again-and-again same-size heat matmul offers offers-taken offers-greedy withdrawals
      end-while-posted never-arrives death-in-iteration death-in-growth joiners-do-not-fit
      no-room-to-spawn no-mailbox without-pleat)
    add_test(NAME system-app-${scenario} COMMAND test-app-driver ${scenario}
      $<TARGET_FILE:app-loop> $<TARGET_FILE:app-heat> $<TARGET_FILE:app-matmul>)
    set_tests_properties(system-app-${scenario} PROPERTIES
      LABELS system TIMEOUT 180 PROCESSORS 2)
  endforeach()
endif()
if(PLEAT_MPI)
  add_test(NAME system-app-docs COMMAND ${test_dir}/app_docs.sh
    ${CMAKE_SOURCE_DIR}/docs/mpi-programmer.md ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/lib)
  set_tests_properties(system-app-docs PROPERTIES LABELS system TIMEOUT 120)
endif()

# pleatd with everything real: command line, agent, MPI applications that misbehave.
if(TARGET pleatd AND TARGET app-loop)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  if(EXISTS ${test_dir}/replay_log.c)
    add_executable(replay-log ${test_dir}/replay_log.c)
    target_link_libraries(replay-log PRIVATE pleat-sim pleat-core pleat-store)
    set_target_properties(replay-log PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  endif()
  foreach(mpi openmpi mpich)
    if(TARGET pleat-${mpi})
      add_library(misbehave-${mpi} MODULE ${test_dir}/daemon/misbehave.c)
      target_include_directories(misbehave-${mpi} PRIVATE ${CMAKE_SOURCE_DIR}/src)
      target_link_libraries(misbehave-${mpi} PRIVATE pleat-${mpi} dl)
      set_target_properties(misbehave-${mpi} PROPERTIES
        PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    endif()
  endforeach()
  # the program in Fortran, by the MPI's own wrapper
  foreach(mpi openmpi mpich)
    find_program(PLEAT_MPIFORT_${mpi} mpifort.${mpi})
    if(TARGET pleat-${mpi} AND PLEAT_GFORTRAN AND PLEAT_MPIFORT_${mpi})
      set(made ${CMAKE_BINARY_DIR}/tests/fortran-${mpi})
      file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fortran-modules-${mpi})
      add_custom_command(OUTPUT ${made}
        COMMAND ${PLEAT_MPIFORT_${mpi}} -std=f2008 -O1 -g -J${CMAKE_CURRENT_BINARY_DIR}/fortran-modules-${mpi} -w -o ${made}
          ${test_dir}/fortran/numbers.f90 $<TARGET_FILE:pleat-${mpi}> -Wl,-rpath,$<TARGET_FILE_DIR:pleat-${mpi}>
        DEPENDS ${test_dir}/fortran/numbers.f90 pleat-${mpi} COMMENT "Building tests/fortran-${mpi} (Fortran)" VERBATIM)
      add_custom_target(numbers-${mpi} ALL DEPENDS ${made})
    endif()
  endforeach()
  file(GLOB daemon_tests CONFIGURE_DEPENDS ${test_dir}/daemon/test_*.py)
  foreach(daemon_test ${daemon_tests})
    string(REGEX REPLACE ".*/test_(.*)\\.py" "\\1" part ${daemon_test})
    add_test(NAME system-daemon-${part} COMMAND ${PYTEST} -q -p no:cacheprovider ${daemon_test})
    set_tests_properties(system-daemon-${part} PROPERTIES LABELS system TIMEOUT 600
      ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()

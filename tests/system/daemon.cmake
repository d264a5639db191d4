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
  foreach(mpi openmpi mpich)
    if(TARGET pleat-${mpi})
      add_library(hold_adapt-${mpi} MODULE ${test_dir}/daemon/hold_adapt.c)
      target_link_libraries(hold_adapt-${mpi} PRIVATE pleat-${mpi} dl)
      set_target_properties(hold_adapt-${mpi} PROPERTIES
        PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests COMPILE_OPTIONS "-Wno-pedantic")
      foreach(program acts points twice)
        add_executable(test-app-${program}-${mpi} ${test_dir}/app_${program}.c)
        target_link_libraries(test-app-${program}-${mpi} PRIVATE pleat-${mpi})
        set_target_properties(test-app-${program}-${mpi} PROPERTIES
          RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
      endforeach()
    endif()
  endforeach()
  add_library(escape MODULE ${test_dir}/daemon/escape.c)
  set_target_properties(escape PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  # programs in Fortran, by the MPI's own wrapper
  foreach(mpi openmpi mpich)
    find_program(PLEAT_MPIFORT_${mpi} mpifort.${mpi})
    if(TARGET pleat-${mpi} AND PLEAT_GFORTRAN AND PLEAT_MPIFORT_${mpi} AND NOT PLEAT_SANITIZE)
      foreach(program numbers moves)
        set(made ${CMAKE_BINARY_DIR}/tests/${program}-${mpi})
        set(modules ${CMAKE_CURRENT_BINARY_DIR}/fortran-${program}-${mpi})
        file(MAKE_DIRECTORY ${modules})
        add_custom_command(OUTPUT ${made}
          COMMAND ${PLEAT_MPIFORT_${mpi}} -std=f2008 -O1 -g -J${modules} -w -o ${made}
            ${CMAKE_SOURCE_DIR}/include/pleat.f90 ${test_dir}/fortran/${program}.f90
            $<TARGET_FILE:pleat-${mpi}> -Wl,-rpath,$<TARGET_FILE_DIR:pleat-${mpi}>
          DEPENDS ${test_dir}/fortran/${program}.f90 ${CMAKE_SOURCE_DIR}/include/pleat.f90 pleat-${mpi}
          COMMENT "Building tests/${program}-${mpi} (Fortran)" VERBATIM)
        add_custom_target(fortran-${program}-${mpi} ALL DEPENDS ${made})
      endforeach()
    endif()
    # some in C++
    find_program(PLEAT_mpicxx_${mpi} mpicxx.${mpi})
    if(TARGET pleat-${mpi} AND PLEAT_mpicxx_${mpi} AND NOT PLEAT_SANITIZE)
      set(headers pleat.h pleat.hpp pleat-data.hpp)
      list(TRANSFORM headers PREPEND ${CMAKE_SOURCE_DIR}/include/)
      foreach(program vectors objects)
        set(made ${CMAKE_BINARY_DIR}/tests/${program}-${mpi})
        add_custom_command(OUTPUT ${made}
          COMMAND ${PLEAT_mpicxx_${mpi}} -std=c++11 -g -Wall -Wextra -Werror -DOMPI_SKIP_MPICXX -I${CMAKE_SOURCE_DIR}/include
            -o ${made} ${test_dir}/daemon/${program}.cc $<TARGET_FILE:pleat-${mpi}> -Wl,-rpath,$<TARGET_FILE_DIR:pleat-${mpi}>
          DEPENDS ${test_dir}/daemon/${program}.cc ${headers}
            pleat-${mpi} COMMENT "Building tests/${program}-${mpi} (C++)" VERBATIM)
        add_custom_target(cpp-${program}-${mpi} ALL DEPENDS ${made})
      endforeach()
    endif()
  endforeach()
  set(daemon_parts
    adaptation archive asked bad_jobs bind checkpoint checkpoint_times clean crossing crowd declared escape everyday examples far_terminal fold_real folded_nodes folded_resize folding follow
    fortran guard
    history hosts input_sent job_options launches limit_signal lost_specs memory nodes not_now outset outside parts parts_output peers points
    pty python recovery relaunch replay rescue saving security silence sites spread standard_input starts strangers sweet_spot sweet_spot_learned tasks tcp times too_few
    upgrade warm_agent ways why)
  list(TRANSFORM daemon_parts PREPEND system/daemon/test_ OUTPUT_VARIABLE daemon_tests)
  list(TRANSFORM daemon_tests APPEND .py)
  pleat_must_list(system/daemon/test_*.py ${daemon_tests})
  foreach(part ${daemon_parts})
    add_test(NAME system-daemon-${part} COMMAND ${PYTEST} -q -p no:cacheprovider
      ${test_dir}/daemon/test_${part}.py)
    set_tests_properties(system-daemon-${part} PROPERTIES LABELS system TIMEOUT 600
      ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  endforeach()
  # some of them once more, with agents that call over TCP
  add_test(NAME system-daemon-recovery-tcp COMMAND ${PYTEST} -q -p no:cacheprovider
    ${test_dir}/daemon/test_recovery.py ${test_dir}/daemon/test_nodes.py
    -k "daemon_ends_while or killed_again or job_ends_while or survives or daemon_and_agent or fewer_processors or both_nodes")
  set_tests_properties(system-daemon-recovery-tcp PROPERTIES LABELS system TIMEOUT 600
    ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1;PLEAT_TEST_AGENTS=tcp")
endif()

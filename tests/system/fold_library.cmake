# libpleat-fold before MPI programs that know nothing of it.
if(TARGET pleat-fold-openmpi)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  set(wrappers ${CMAKE_SOURCE_DIR}/src/fold)
  find_package(OpenMP) # threads of programs are made in both ways
  foreach(mpi openmpi mpich)
    if(NOT TARGET pleat-fold-${mpi})
      continue()
    endif()
    if(mpi STREQUAL openmpi)
      set(found PkgConfig::ompi)
    else()
      set(found PkgConfig::mpich)
    endif()
    add_executable(fold-calls-${mpi} ${test_dir}/fold/calls.c ${test_dir}/fold/calls_collective.c
      ${test_dir}/fold/calls_comms.c ${test_dir}/fold/calls_messages.c ${test_dir}/fold/calls_windows.c)
    add_executable(fold-lives-${mpi} ${test_dir}/fold/lives.c)
    add_executable(fold-groups-${mpi} ${test_dir}/fold/groups.c ${test_dir}/fold/groups_between.c
      ${test_dir}/fold/groups_files.c ${test_dir}/fold/groups_shapes.c ${test_dir}/fold/groups_windows.c)
    add_executable(fold-threads-${mpi} ${test_dir}/fold/threads.c)
    if(OpenMP_C_FOUND)
      target_link_libraries(fold-threads-${mpi} PRIVATE OpenMP::OpenMP_C)
    endif()
    add_executable(fold-pairs-${mpi} ${test_dir}/fold/pairs.c)
    add_library(fold-tool-${mpi} MODULE ${test_dir}/fold/tool.c)
    # The wrappers as they are, and a turn.c that writes down what they tell.
    get_target_property(sources pleat-fold-${mpi} SOURCES)
    list(REMOVE_ITEM sources thread.c)
    list(TRANSFORM sources PREPEND ${wrappers}/)
    add_library(fold-record-${mpi} MODULE ${sources} ${test_dir}/fold/turn_record.c)
    target_link_libraries(fold-record-${mpi} PRIVATE pleat-base)
    target_include_directories(fold-record-${mpi} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_include_directories(fold-record-${mpi} SYSTEM PRIVATE
      $<TARGET_PROPERTY:${found},INTERFACE_INCLUDE_DIRECTORIES>)
    foreach(target fold-calls-${mpi} fold-groups-${mpi} fold-lives-${mpi} fold-pairs-${mpi} fold-threads-${mpi}
        fold-tool-${mpi})
      target_link_libraries(${target} PRIVATE ${found})
    endforeach()
    # mpi.h's constants for "no array" are no arrays
    foreach(target fold-calls-${mpi} fold-groups-${mpi} fold-threads-${mpi})
      target_compile_options(${target} PRIVATE
        $<$<C_COMPILER_ID:GNU>:-Wno-stringop-overflow;-Wno-stringop-overread>)
    endforeach()
    target_compile_options(fold-tool-${mpi} PRIVATE -fvisibility=default)
    set_target_properties(fold-calls-${mpi} fold-groups-${mpi} fold-lives-${mpi} fold-pairs-${mpi} fold-threads-${mpi}
      fold-tool-${mpi} fold-record-${mpi} PROPERTIES PREFIX "" RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    foreach(part library threads groups)
      add_test(NAME system-fold-${part}-${mpi} COMMAND ${PYTEST} -q -p no:cacheprovider
        ${test_dir}/fold/test_${part}.py)
      set_tests_properties(system-fold-${part}-${mpi} PROPERTIES LABELS system TIMEOUT 600
        ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1;FOLD_MPI=${mpi};PLEAT_SANITIZED=${PLEAT_SANITIZE}")
    endforeach()
  endforeach()
  # Some of the tests that MPI's implementers use; their sources come from Debian's archive: scripts/test gets them.
  foreach(mpi openmpi mpich)
    if(TARGET pleat-fold-${mpi})
      add_test(NAME system-fold-conformance-${mpi} COMMAND ${test_dir}/fold/conformance --small --mpi ${mpi}
        --build ${CMAKE_BINARY_DIR} --limit 100)
      set_tests_properties(system-fold-conformance-${mpi} PROPERTIES LABELS system TIMEOUT 600 SKIP_RETURN_CODE 77
        ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
    endif()
  endforeach()
endif()

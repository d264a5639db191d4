# Folded runs under pleat-agent: processes played by fold-ranks, then real MPI programs; on one node, and on two.
if(TARGET pleat-agent AND TARGET pleat-fold)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  add_executable(fold-ranks ${CMAKE_CURRENT_LIST_DIR}/agent/fold_ranks.c)
  target_link_libraries(fold-ranks PRIVATE pleat-fold)
  set_target_properties(fold-ranks PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  # What an agent measures of processes decides there, so nothing else runs then.
  set(measured "detector or heavy_processes") # of test_agent_fold_mpi.py
  foreach(part fold fold_mpi fold_mpi-changes fold_harm fold_pool nodes)
    set(file ${part})
    set(which)
    if(part STREQUAL "fold_mpi")
      set(which -k "${measured}")
    elseif(part STREQUAL "fold_mpi-changes")
      set(file fold_mpi)
      set(which -k "not (${measured})")
    endif()
    add_test(NAME system-agent-${part}
      COMMAND ${PYTEST} -q -p no:cacheprovider ${which}
        ${CMAKE_CURRENT_LIST_DIR}/agent/test_agent_${file}.py)
    set_tests_properties(system-agent-${part} PROPERTIES LABELS system TIMEOUT 600
      ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  endforeach()
  set_tests_properties(system-agent-fold system-agent-fold_mpi PROPERTIES RUN_SERIAL TRUE)
endif()

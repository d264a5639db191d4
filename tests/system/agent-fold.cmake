# Folded runs under pleat-agent: processes played by fold-ranks, then real MPI programs; on one node, and on two.
if(TARGET pleat-agent AND TARGET pleat-fold)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  add_executable(fold-ranks ${CMAKE_CURRENT_LIST_DIR}/agent/fold_ranks.c)
  target_link_libraries(fold-ranks PRIVATE pleat-fold)
  set_target_properties(fold-ranks PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  foreach(part fold fold_mpi fold_harm nodes)
    add_test(NAME system-agent-${part}
      COMMAND ${PYTEST} -q -p no:cacheprovider
        ${CMAKE_CURRENT_LIST_DIR}/agent/test_agent_${part}.py)
    set_tests_properties(system-agent-${part} PROPERTIES LABELS system TIMEOUT 600 RUN_SERIAL TRUE
      ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()

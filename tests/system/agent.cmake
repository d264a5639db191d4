# pleat-agent against a daemon played by the test, and applications played by agent-ranks.
if(TARGET pleat-agent)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  add_executable(agent-ranks ${CMAKE_CURRENT_LIST_DIR}/agent/agent_ranks.c)
  target_link_libraries(agent-ranks PRIVATE pleat-shm)
  set_target_properties(agent-ranks PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_executable(launch-words ${CMAKE_CURRENT_LIST_DIR}/agent/launch_words.c)
  target_link_libraries(launch-words PRIVATE pleat-launch)
  set_target_properties(launch-words PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_library(agent-moments MODULE ${CMAKE_CURRENT_LIST_DIR}/agent/moments.c)
  target_link_libraries(agent-moments PRIVATE ${CMAKE_DL_LIBS})
  target_compile_options(agent-moments PRIVATE -fvisibility=default)
  set_target_properties(agent-moments PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  foreach(part evolve start moments tree life resize relaunch screen warm mpi cycles bind)
    add_test(NAME system-agent-${part}
      COMMAND ${PYTEST} -q -p no:cacheprovider
        ${CMAKE_CURRENT_LIST_DIR}/agent/test_agent_${part}.py)
    set_tests_properties(system-agent-${part} PROPERTIES LABELS system TIMEOUT 300
      ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()

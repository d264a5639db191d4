if(TARGET pleat-agent-base)
  foreach(part contention detector mapping rate)
    pleat_unit_test(agent-${part} SOURCES ${CMAKE_CURRENT_LIST_DIR}/agent-${part}.c
      DEPS pleat-agent-base)
  endforeach()
endif()

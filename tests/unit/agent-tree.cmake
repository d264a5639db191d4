if(TARGET pleat-agent-base)
  pleat_unit_test(agent-tree SOURCES ${CMAKE_CURRENT_LIST_DIR}/agent-tree.c DEPS pleat-agent-base)
  pleat_unit_test(agent-process SOURCES ${CMAKE_CURRENT_LIST_DIR}/agent-process.c
    DEPS pleat-agent-base)
  pleat_unit_test(agent-shared-files SOURCES ${CMAKE_CURRENT_LIST_DIR}/agent-shared-files.c
    DEPS pleat-agent-base)
  pleat_unit_test(agent-cpus SOURCES ${CMAKE_CURRENT_LIST_DIR}/agent-cpus.c DEPS pleat-agent-base)
  pleat_unit_test(agent-granted SOURCES ${CMAKE_CURRENT_LIST_DIR}/agent-granted.c
    DEPS pleat-agent-base)
  pleat_unit_test(agent-cpuset SOURCES ${CMAKE_CURRENT_LIST_DIR}/agent-cpuset.c
    DEPS pleat-agent-base)
  pleat_unit_test(agent-memory-watch
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/agent-memory-watch.c
      ${CMAKE_SOURCE_DIR}/src/agent/memory_watch.c
    DEPS pleat-base pleat-wire PkgConfig::jansson PkgConfig::libuv)
endif()

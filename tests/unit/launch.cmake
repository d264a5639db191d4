if(TARGET pleat-launch)
  pleat_unit_test(launch SOURCES ${CMAKE_CURRENT_LIST_DIR}/launch.c DEPS pleat-launch)
  pleat_unit_test(launch-detect SOURCES ${CMAKE_CURRENT_LIST_DIR}/launch-detect.c DEPS pleat-launch)
endif()

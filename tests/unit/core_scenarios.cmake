foreach(name resize life relaunch terms taken replace application ask need said fold shares buffer prepare architecture pairs outposts anywhere leave several files nodes lent guests hosts agent queue)
  pleat_unit_test(core-scenarios-${name}
    SOURCES ${test_dir}/core_scenarios_${name}_test.c ${test_dir}/core_scenarios_hand.c
    DEPS pleat-core)
endforeach()
pleat_unit_test(core-sites
  SOURCES ${test_dir}/core_sites_test.c ${test_dir}/core_scenarios_hand.c
  DEPS pleat-core)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME unit-core-scenarios-doc
  COMMAND ${Python3_EXECUTABLE} ${test_dir}/core_scenarios_doc_test.py ${CMAKE_SOURCE_DIR})
set_tests_properties(unit-core-scenarios-doc PROPERTIES LABELS unit TIMEOUT 60)
pleat_unit_test(core-scenarios-states
  SOURCES ${test_dir}/core_scenarios_states.c DEPS pleat-core)
target_compile_definitions(test-core-scenarios-states PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
pleat_unit_test(core-holds
  SOURCES ${test_dir}/core_holds_test.c ${test_dir}/core_scenarios_hand.c
  DEPS pleat-core)
pleat_unit_test(core-circles
  SOURCES ${test_dir}/core_circles_test.c ${test_dir}/core_scenarios_hand.c
  DEPS pleat-core)

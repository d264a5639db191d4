find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME unit-layers COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-layers)
add_test(NAME unit-layers-self
  COMMAND ${Python3_EXECUTABLE} ${test_dir}/layers_test.py ${CMAKE_SOURCE_DIR}/scripts/check-layers)
add_test(NAME unit-core-floors COMMAND ${Python3_EXECUTABLE} ${test_dir}/core_floors.py)
set_tests_properties(unit-layers unit-layers-self unit-core-floors PROPERTIES LABELS unit TIMEOUT 60)

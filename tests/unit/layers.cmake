find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME unit-layers COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-layers)
add_test(NAME unit-layers-self
  COMMAND ${Python3_EXECUTABLE} ${test_dir}/layers_test.py ${CMAKE_SOURCE_DIR}/scripts/check-layers)
add_test(NAME unit-floors COMMAND ${Python3_EXECUTABLE} ${test_dir}/floors.py)
set_tests_properties(unit-layers unit-layers-self unit-floors PROPERTIES LABELS unit TIMEOUT 300)
add_test(NAME unit-fortran-module COMMAND ${Python3_EXECUTABLE} ${test_dir}/fortran_module_test.py ${CMAKE_SOURCE_DIR})
set_tests_properties(unit-fortran-module PROPERTIES LABELS unit TIMEOUT 30)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME unit-layers COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-layers)
add_test(NAME unit-layers-self
  COMMAND ${Python3_EXECUTABLE} ${test_dir}/layers_test.py ${CMAKE_SOURCE_DIR}/scripts/check-layers)
add_test(NAME unit-floors COMMAND ${Python3_EXECUTABLE} ${test_dir}/floors.py)
set_tests_properties(unit-layers unit-layers-self unit-floors PROPERTIES LABELS unit TIMEOUT 300)
add_test(NAME unit-fortran-module COMMAND ${Python3_EXECUTABLE} ${test_dir}/fortran_module_test.py ${CMAKE_SOURCE_DIR})
add_test(NAME unit-python-module COMMAND ${Python3_EXECUTABLE} ${test_dir}/python_module_test.py ${CMAKE_SOURCE_DIR})
set_tests_properties(unit-fortran-module unit-python-module PROPERTIES LABELS unit TIMEOUT 30
  ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
if(CMAKE_GENERATOR STREQUAL "Ninja")
  get_property(linked_tuned GLOBAL PROPERTY PLEAT_LINKED_TUNED)
  string(REPLACE ";" "," linked_tuned "none;${linked_tuned}")
  string(REPLACE ";" "," tuned_folders "${PLEAT_TUNED_FOLDERS}")
  set(tuning $<IF:$<BOOL:${PLEAT_TUNED}>,on,off>)
  add_test(NAME unit-tuning COMMAND ${Python3_EXECUTABLE} ${test_dir}/tuning_test.py
    ${CMAKE_BINARY_DIR} ${tuning} ${tuned_folders} ${linked_tuned})
  set_tests_properties(unit-tuning PROPERTIES LABELS unit TIMEOUT 60)
endif()

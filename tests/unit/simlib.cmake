# The shared library as another program sees it: only its header.
add_executable(test-simlib ${test_dir}/simlib_test.c)
target_link_libraries(test-simlib PRIVATE pleat-sim-library PkgConfig::cmocka)
set_target_properties(test-simlib PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME unit-simlib COMMAND test-simlib)
set_tests_properties(unit-simlib PROPERTIES LABELS unit TIMEOUT 300)

# The fuzz function on fixed inputs, with any compiler; and under libFuzzer (PLEAT_FUZZ, scripts/fuzz).
add_executable(test-fuzz-grid ${test_dir}/grid_mutate_test.c ${test_dir}/grid_fuzz.c)
target_link_libraries(test-fuzz-grid PRIVATE pleat-workload)
set_target_properties(test-fuzz-grid PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME unit-fuzz-grid COMMAND test-fuzz-grid)
set_tests_properties(unit-fuzz-grid PROPERTIES LABELS unit TIMEOUT 300)

if(PLEAT_FUZZ)
  # the reader is compiled here again, so that its code is covered whatever the libraries' flags
  add_executable(fuzz-grid ${test_dir}/fuzz_main.c ${test_dir}/grid_fuzz.c
    ${CMAKE_SOURCE_DIR}/src/workload/grid.c ${CMAKE_SOURCE_DIR}/src/workload/grid_file.c
    ${CMAKE_SOURCE_DIR}/src/workload/grid_text.c
    ${CMAKE_SOURCE_DIR}/src/workload/generate_distribution.c)
  target_compile_definitions(fuzz-grid PRIVATE FUZZ_FUNCTION=pleat_fuzz_grid)
  target_compile_options(fuzz-grid PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz-grid PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz-grid PRIVATE pleat-workload)
  set_target_properties(fuzz-grid PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endif()

# The fuzz function on fixed inputs, with any compiler; and under libFuzzer (PLEAT_FUZZ, scripts/fuzz).
add_executable(test-fuzz-swf ${test_dir}/swf_mutate_test.c ${test_dir}/swf_fuzz.c)
target_link_libraries(test-fuzz-swf PRIVATE pleat-workload)
set_target_properties(test-fuzz-swf PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME unit-fuzz-swf COMMAND test-fuzz-swf)
set_tests_properties(unit-fuzz-swf PROPERTIES LABELS unit TIMEOUT 300)

if(PLEAT_FUZZ)
  # the reader is compiled here again, so that its code is covered whatever the libraries' flags
  add_executable(fuzz-swf ${test_dir}/fuzz_main.c ${test_dir}/swf_fuzz.c
    ${CMAKE_SOURCE_DIR}/src/workload/swf_read.c ${CMAKE_SOURCE_DIR}/src/workload/swf_lines.c
    ${CMAKE_SOURCE_DIR}/src/workload/swf_scan.c
    ${CMAKE_SOURCE_DIR}/src/workload/swf_columns.c ${CMAKE_SOURCE_DIR}/src/workload/swf_write.c
    ${CMAKE_SOURCE_DIR}/src/workload/app_text.c ${CMAKE_SOURCE_DIR}/src/workload/decimal.c
    ${CMAKE_SOURCE_DIR}/src/workload/convert.c ${CMAKE_SOURCE_DIR}/src/model/workload.c)
  target_compile_definitions(fuzz-swf PRIVATE FUZZ_FUNCTION=pleat_fuzz_swf)
  target_compile_options(fuzz-swf PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz-swf PRIVATE -fsanitize=fuzzer)
  # describe.c and statistics.c, which read nothing
  target_link_libraries(fuzz-swf PRIVATE pleat-workload pleat-model pleat-base)
  set_target_properties(fuzz-swf PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endif()

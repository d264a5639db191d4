# The fuzz function on fixed inputs, with any compiler; and under libFuzzer (PLEAT_FUZZ, scripts/fuzz).
pleat_find(confuse libconfuse)
add_executable(test-fuzz-platform ${test_dir}/platform_mutate_test.c ${test_dir}/platform_fuzz.c
  ${CMAKE_SOURCE_DIR}/src/cli/platform_file.c)
target_link_libraries(test-fuzz-platform PRIVATE pleat-sim pleat-base PkgConfig::confuse m)
set_target_properties(test-fuzz-platform PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME unit-fuzz-platform COMMAND test-fuzz-platform)
set_tests_properties(unit-fuzz-platform PROPERTIES LABELS unit TIMEOUT 300)

if(PLEAT_FUZZ)
  # the reader is compiled here again, so that its code is covered whatever the libraries' flags
  add_executable(fuzz-platform ${test_dir}/fuzz_main.c ${test_dir}/platform_fuzz.c
    ${CMAKE_SOURCE_DIR}/src/cli/platform_file.c ${CMAKE_SOURCE_DIR}/src/base/config_text.c)
  target_compile_definitions(fuzz-platform PRIVATE FUZZ_FUNCTION=pleat_fuzz_platform)
  target_compile_options(fuzz-platform PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz-platform PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz-platform PRIVATE pleat-sim pleat-base PkgConfig::confuse m)
  set_target_properties(fuzz-platform PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endif()

# The fuzz function on fixed inputs, with any compiler; and under libFuzzer (PLEAT_FUZZ, scripts/fuzz).
add_executable(test-fuzz-wire ${test_dir}/wire_mutate_test.c ${test_dir}/wire_fuzz.c)
target_link_libraries(test-fuzz-wire PRIVATE pleat-wire)
set_target_properties(test-fuzz-wire PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME unit-fuzz-wire COMMAND test-fuzz-wire)
set_tests_properties(unit-fuzz-wire PROPERTIES LABELS unit TIMEOUT 300)

if(PLEAT_FUZZ)
  # the reader is compiled here again, so that its code is covered whatever the libraries' flags
  add_executable(fuzz-wire ${test_dir}/fuzz_main.c ${test_dir}/wire_fuzz.c
    ${CMAKE_SOURCE_DIR}/src/wire/reader.c ${CMAKE_SOURCE_DIR}/src/wire/message.c
    ${CMAKE_SOURCE_DIR}/src/wire/members.c)
  target_include_directories(fuzz-wire PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_definitions(fuzz-wire PRIVATE FUZZ_FUNCTION=pleat_fuzz_wire)
  target_compile_options(fuzz-wire PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz-wire PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz-wire PRIVATE pleat-base PkgConfig::jansson)
  set_target_properties(fuzz-wire PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endif()

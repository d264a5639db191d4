add_executable(fake-pleatd ${test_dir}/client_fake_daemon.c)
target_link_libraries(fake-pleatd PRIVATE pleat-wire)
set_target_properties(fake-pleatd PROPERTIES
  OUTPUT_NAME pleatd RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/fake)
pleat_unit_test(client SOURCES ${test_dir}/client_test.c DEPS pleat-client)
pleat_unit_test(client-start SOURCES ${test_dir}/client_start_test.c DEPS pleat-client)
target_compile_definitions(test-client-start PRIVATE
  FAKE_PLEATD="${CMAKE_BINARY_DIR}/tests/fake/pleatd")
add_dependencies(test-client-start fake-pleatd)

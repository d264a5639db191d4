pleat_unit_test(runner LABEL conformance
  SOURCES ${test_dir}/runner.c ${test_dir}/host.c DEPS pleat-runner)
target_compile_definitions(test-runner PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")

pleat_unit_test(runner LABEL conformance
  SOURCES ${test_dir}/runner.c ${test_dir}/host.c DEPS pleat-runner)
target_compile_definitions(test-runner PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
if(TARGET pleat-fold-openmpi) # which it finds beside itself
  target_compile_definitions(test-runner PRIVATE HAS_FOLD)
  add_dependencies(test-runner pleat-fold-openmpi)
endif()
pleat_unit_test(runner-fake LABEL conformance
  SOURCES ${test_dir}/runner_fake.c ${test_dir}/host.c DEPS pleat-test-world)

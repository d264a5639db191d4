# libpleat-process with a stand-in for the agent; with the sanitizers as well, since the processes are programs in C.
find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
add_executable(process-worker ${test_dir}/process_library/worker.c)
target_link_libraries(process-worker PRIVATE pleat-process-library)
set_target_properties(process-worker PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
foreach(part messages requests languages)
  add_test(NAME system-process-${part}
    COMMAND ${PYTEST} -q -p no:cacheprovider ${test_dir}/process_library/test_${part}.py)
  set_tests_properties(system-process-${part} PROPERTIES LABELS system TIMEOUT 300
    ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1;TSAN_OPTIONS=suppressions=${test_dir}/process_library/tsan.supp")
endforeach()

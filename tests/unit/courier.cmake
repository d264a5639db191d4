pleat_unit_test(courier-stream
  SOURCES ${test_dir}/courier_stream_test.c ${CMAKE_SOURCE_DIR}/src/courier/stream.c ${CMAKE_SOURCE_DIR}/src/courier/record.c
  DEPS pleat-base)

pleat_unit_test(loopback-peer
  SOURCES ${test_dir}/loopback_peer_test.c ${CMAKE_SOURCE_DIR}/src/loopback/peer.c DEPS pleat-base)

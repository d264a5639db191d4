find_package(Threads REQUIRED)
pleat_unit_test(mailbox SOURCES ${test_dir}/mailbox_test.c DEPS pleat-shm)
pleat_unit_test(mailbox-points SOURCES ${test_dir}/mailbox_points_test.c DEPS pleat-shm)
pleat_unit_test(mailbox-agreement SOURCES ${test_dir}/mailbox_agreement_test.c
  DEPS pleat-shm Threads::Threads)
pleat_unit_test(available SOURCES ${test_dir}/available_test.c DEPS pleat-shm)
pleat_unit_test(state SOURCES ${test_dir}/state_test.c DEPS pleat-shm)
pleat_unit_test(state-parts SOURCES ${test_dir}/state_parts_test.c DEPS pleat-shm)
pleat_unit_test(mailbox-orders SOURCES ${test_dir}/mailbox_orders_test.c DEPS pleat-shm)
pleat_unit_test(mailbox-meet SOURCES ${test_dir}/mailbox_meet_test.c DEPS pleat-shm Threads::Threads)
pleat_unit_test(mailbox-nodes SOURCES ${test_dir}/mailbox_nodes_test.c
  DEPS pleat-shm Threads::Threads)

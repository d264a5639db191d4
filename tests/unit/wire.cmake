pleat_unit_test(wire-message SOURCES ${test_dir}/wire_message_test.c DEPS pleat-wire)
pleat_unit_test(wire-members SOURCES ${test_dir}/wire_members_test.c DEPS pleat-wire)
pleat_unit_test(wire-connection SOURCES ${test_dir}/wire_connection_test.c DEPS pleat-wire)
pleat_unit_test(wire-tls SOURCES ${test_dir}/wire_tls_test.c DEPS pleat-wire)

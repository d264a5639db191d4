# Distributed arrays: what is dealt out by hand is compared with src/dist.
set(dist_oracle ${test_dir}/dist_oracle.c)
pleat_unit_test(dist SOURCES ${test_dir}/dist_test.c ${dist_oracle} DEPS pleat-dist)
pleat_unit_test(dist-pairs SOURCES ${test_dir}/dist_pairs_test.c ${dist_oracle} DEPS pleat-dist)
pleat_unit_test(dist-large SOURCES ${test_dir}/dist_large_test.c DEPS pleat-dist)
pleat_unit_test(dist-descriptor SOURCES ${test_dir}/dist_descriptor_test.c DEPS pleat-dist)
pleat_unit_test(dist-grid SOURCES ${test_dir}/dist_grid_test.c DEPS pleat-dist)
pleat_unit_test(dist-spread SOURCES ${test_dir}/dist_spread_test.c DEPS pleat-dist)

pleat_fuzz(grid DEPS pleat-workload
  READER workload/grid.c workload/grid_file.c workload/grid_text.c
         workload/generate_distribution.c)

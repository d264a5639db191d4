pleat_fuzz(simgrid DEPS pleat-scenario pleat-sim pleat-workload pleat-base m READER scenario/simgrid.c)

pleat_fuzz(jobs DEPS pleat-scenario pleat-workload pleat-model pleat-base
  READER scenario/read.c scenario/text.c scenario/batsim.c scenario/elastisim.c scenario/elastisim_model.c
         scenario/expression.c scenario/foreign.c)

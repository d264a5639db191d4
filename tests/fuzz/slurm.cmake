pleat_fuzz(slurm DEPS pleat-slurm-base
  READER slurm/hostlist.c slurm/ask.c)

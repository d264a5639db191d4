pleat_fuzz(checkpoint DEPS pleat-checkpoint pleat-base
  READER checkpoint/format.c checkpoint/read.c)

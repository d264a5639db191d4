pleat_fuzz(shared DEPS pleat-shm pleat-base
  READER shm/mailbox.c shm/mailbox-rank.c shm/state.c)

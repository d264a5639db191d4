pleat_fuzz(shared DEPS pleat-fold pleat-shm pleat-base
  READER shm/mailbox.c shm/mailbox-rank.c shm/state.c shm/fold.c
    fold/turn.c fold/turn_give.c fold/turn_let_go.c fold/turn_next.c fold/turn_pin.c fold/turn_useful.c fold/turn_watch.c)

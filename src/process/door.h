/* door.h - who is let in: libzmq asks for each connection (ZAP, RFC 27 of ZeroMQ). */
#ifndef PLEAT_PROCESS_DOOR_H
#define PLEAT_PROCESS_DOOR_H

#include "process/processes.h"

/* Before the first socket is bound. */
int pleat_door_open(struct pleat_processes *all, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Answers what was asked: yes to the run's key, no to any other. */
void pleat_door_answer(struct pleat_processes *all);

#endif

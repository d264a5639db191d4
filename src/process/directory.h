/* directory.h - which processes there are, as the agent says it; and the program's notices. */
#ifndef PLEAT_PROCESS_DIRECTORY_H
#define PLEAT_PROCESS_DIRECTORY_H

#include "process/processes.h"
#include "process/told.h"

/* What the agent says of one process. 0 or PLEAT_E_NOMEM. */
int pleat_directory_told(struct pleat_processes *all,
                         const struct pleat_told_process *about) PLEAT_MUST_CHECK;
/* The list of a welcome. again: after a reconnection: who was known and is not in it is gone. */
int pleat_directory_welcome(struct pleat_processes *all, const struct pleat_told_line *told,
                            bool again) PLEAT_MUST_CHECK;
/* A process that was asked for, of which the directory may know nothing yet. */
int pleat_directory_added(struct pleat_processes *all, int32_t process, int64_t number,
                          bool ready) PLEAT_MUST_CHECK;
/* This process is to leave; told once. */
void pleat_directory_leave(struct pleat_processes *all);

#endif

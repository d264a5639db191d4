/* look.h - what an agent would find on this machine, told without changing anything. */
#ifndef PLEAT_AGENT_LOOK_H
#define PLEAT_AGENT_LOOK_H

/* Prints an object of JSON on one line: `cpusets` and `memory_groups`, where this user could make
 * such groups (null: nowhere); `processes`, the ids of processes of jobs whose agent is dead;
 * `files` and `folders`, the number of files and folders in shared memory that killed processes
 * have left. Returns an exit status. */
int pleat_agent_look(void);

#endif

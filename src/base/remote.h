/* remote.h - environment variables about the parts of a run on other nodes than the one that leads
 * it. An MPI launcher starts what it needs there through pleat-remote (src/remote).
 */
#ifndef PLEAT_BASE_REMOTE_H
#define PLEAT_BASE_REMOTE_H

/* Of the launcher: the socket of the agent that leads the run, and the name of that node. */
#define PLEAT_REMOTE_ENV "PLEAT_REMOTE"
#define PLEAT_REMOTE_HERE_ENV "PLEAT_REMOTE_HERE"
/* Of the launcher: names of variables, with ',' between them, whose value in a part is the scratch
 * directory of its own node. */
#define PLEAT_PART_SCRATCH_ENV "PLEAT_PART_SCRATCH"
/* Of the launcher: TMPDIR of the parts; empty: they have none. Not set: as the launcher has it. */
#define PLEAT_PART_TMPDIR_ENV "PLEAT_PART_TMPDIR"
/* Of a part: the name of its node, as the launcher knows it. */
#define PLEAT_NODE_NAME_ENV "PLEAT_NODE_NAME"
/* Of every process of a run that has one: the scratch directory of its node. */
#define PLEAT_SCRATCH_ENV "PLEAT_SCRATCH"
/* Of an MPI launcher: the path of the terminal that the agent has made for rank 0. */
#define PLEAT_TERMINAL_ENV "PLEAT_TERMINAL"

#endif

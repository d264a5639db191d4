/* outset.h - at its start, pleatd sheds what it has inherited */
#ifndef PLEAT_DAEMON_OUTSET_H
#define PLEAT_DAEMON_OUTSET_H

/* Sets default signal actions (but for SIGHUP), closes all descriptors above 2, and makes new files
 * accessible to this user only. If pleatd was started inside a job, it leaves the job's
 * environment, limits, CPUs, control groups and session: it forks into the background and executes
 * itself again, so this call does not return there. */
void daemon_outset(char **argv);

#endif

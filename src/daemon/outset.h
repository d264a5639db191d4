/* outset.h - what pleatd sheds of whoever starts it */
#ifndef PLEAT_DAEMON_OUTSET_H
#define PLEAT_DAEMON_OUTSET_H

/* Default signals (but SIGHUP's), no descriptor but 0 to 2, files for this user only; out
 * of the job that it may be started in, with its environment, limits, CPUs, groups and session:
 * then it goes to the background, executes itself again, and does not return. */
void daemon_outset(char **argv);

#endif

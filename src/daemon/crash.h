/* crash.h - kills pleatd between any two of its steps, for tests */
#ifndef PLEAT_DAEMON_CRASH_H
#define PLEAT_DAEMON_CRASH_H

/* To be called between any two steps that another process, or the log, can see. If the environment
 * has PLEAT_TEST_CRASH_AFTER=n, the n-th call ends the daemon as SIGKILL does. */
void crash_point(void);

#endif

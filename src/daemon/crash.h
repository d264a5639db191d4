/* crash.h - deaths at every step, for tests */
#ifndef PLEAT_DAEMON_CRASH_H
#define PLEAT_DAEMON_CRASH_H

/* Called between any two steps that another process, or the log, can see. Ends the daemon
 * as SIGKILL does at the n-th call where the environment has PLEAT_TEST_CRASH_AFTER=n; for tests.
 */
void crash_point(void);

#endif

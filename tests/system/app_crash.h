/* app_crash.h - in a test program: one rank dies, or gets no memory, at a chosen step of a resize.
 *
 * PLEAT_TEST_CRASH=HOW:RANK:N:FILE: as its N-th step inside of the library, once (whoever removes
 * FILE does it), process RANK of its world, or of a spawned one (RANK from 100 on), does not take
 * the step but HOW: "die", kills itself; "fail", is told that there is no memory, at the first step
 * from there on where that can be. Steps are the calls with which libpleat changes memory and talks
 * to other ranks: they are replaced here by functions of the program's own.
 *
 * PLEAT_TEST_WRITES_LATE=RANK:MS: before it writes something into the data file that process waits
 * so long, inside of the library, so that others see what is half written. */
#ifndef PLEAT_TESTS_APP_CRASH_H
#define PLEAT_TESTS_APP_CRASH_H

/* To be called after MPI_Init. */
void app_crash_init(void);
/* From here on steps count, or no longer do. */
void app_crash_inside(int inside);

#endif

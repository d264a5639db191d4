/* warm.h - starting the new processes of a relaunch while the old ones compute, and handing over
 * (the stages: succession.h).
 *
 * Where the new processes do not come up, they are ended and the old ones go on: nothing has
 * happened to these. The next relaunch of the run is a cold one, and when that has succeeded a warm
 * one is tried again. Each failure in a row doubles the number of cold ones, up to eight: a program
 * that can never be started beside itself is not tried every time, and one that failed once is
 * tried again. */
#ifndef PLEAT_AGENT_WARM_H
#define PLEAT_AGENT_WARM_H

#include "agent/malleable.h"

enum pleat_warm {
    PLEAT_WARM_NOT,   /* the relaunch is a cold one: there is nothing to wait for */
    PLEAT_WARM_WAIT,  /* the new processes are not ready yet, or those of an earlier relaunch are
                       * not gone */
    PLEAT_WARM_READY, /* the new processes wait */
    PLEAT_WARM_FAILED /* they did not come up, and are being ended */
};

/* Goes on with preparing the outstanding resize, whose relaunch is planned and not posted yet, or
 * is posted. old: what the old processes say. why: set after FAILED. */
enum pleat_warm pleat_warm_prepare(struct pleat_malleable *malleable,
                                   const struct pleat_mailbox_status *old, struct pleat_error *why);
/* The old processes have saved their state: if new processes wait these go on from it, and are the
 * run's from now on. False: no new processes wait. */
bool pleat_warm_hand_over(struct pleat_run *run);
/* A relaunch has succeeded: after one that was cold from the outset the next warm one is nearer.
 * To be called once for each. */
void pleat_warm_count(struct pleat_malleable *malleable, const struct pleat_relaunch *relaunch);
/* Settles what has come to its end: a second generation of which nothing is left, and a new one
 * whose old one has ended. To be called often while there is a second generation. */
void pleat_warm_look(struct pleat_run *run);
/* Nothing is left of the old processes, and new ones may be there. True: the new ones have taken
 * over, or have to be ended first, so the run is not over. */
bool pleat_warm_survives(struct pleat_run *run);

#endif

/* limit_signal.h - the signal before the time limit of a run. */
#ifndef PLEAT_AGENT_LIMIT_SIGNAL_H
#define PLEAT_AGENT_LIMIT_SIGNAL_H

#include "agent/run.h"

enum pleat_signal_to {
    PLEAT_SIGNAL_ALL,    /* all of its processes */
    PLEAT_SIGNAL_OTHERS, /* all but the main process */
    PLEAT_SIGNAL_MAIN    /* the main process alone */
};

/* Sends a run the signal before its time limit, once, and tells so (`signalled`). Launchers get
 * none, unless the main process alone was asked for: they would hand the signal on, or end at it.
 */
void pleat_run_limit_signal(struct pleat_run *run, int number, enum pleat_signal_to to);

#endif

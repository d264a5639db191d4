/* fold_watch.h - looks at folded runs: which processes have attached, what they did, whether
 * their program is balanced, how fast it is, and where foreign processes compute. One timer serves
 * all folded runs, and runs only while there are any. */
#ifndef PLEAT_AGENT_FOLD_WATCH_H
#define PLEAT_AGENT_FOLD_WATCH_H

#include "agent/folded.h"

/* Starts or stops the timer that looks at folded runs, as they need it. */
void pleat_foldeds_arm(struct pleat_agent *agent);
/* Looks at a run now: which processes are attached and what they did. */
void pleat_folded_look(struct pleat_folded *folded);

#endif

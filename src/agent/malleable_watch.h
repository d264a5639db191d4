/* malleable_watch.h - when mailboxes are looked at: as their doorbells ring, and from time to time
 * while a request is outstanding. */
#ifndef PLEAT_AGENT_MALLEABLE_WATCH_H
#define PLEAT_AGENT_MALLEABLE_WATCH_H

#include "agent/malleable.h"

/* Begins to listen to the doorbell. */
void pleat_malleable_watch(struct pleat_malleable *malleable);
/* Starts or stops the timers that look at mailboxes, as they are needed. */
void pleat_malleables_arm(struct pleat_agent *agent);
/* After a new connection: all that `progress` tells is sent again. */
void pleat_malleables_forget_progress(struct pleat_agent *agent);

#endif

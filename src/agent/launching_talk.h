/* launching_talk.h - what each `pleat launch` of a script says, and what follows from that. */
#ifndef PLEAT_AGENT_LAUNCHING_TALK_H
#define PLEAT_AGENT_LAUNCHING_TALK_H

#include "agent/run.h"

/* Begins to listen, once run->launches is made. */
void pleat_launches_listen(struct pleat_run *run);
/* The whole run is being ended: no `pleat launch` is to wait any more. */
void pleat_launches_end(struct pleat_run *run);

#endif

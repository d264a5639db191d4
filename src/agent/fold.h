/* fold.h - the life of the agent's part of a folded run. */
#ifndef PLEAT_AGENT_FOLD_H
#define PLEAT_AGENT_FOLD_H

#include "agent/folded.h"

/* Makes the segment and sets run->folded. The partition is what the run is bound to.
 * PLEAT_E_INVALID: the run is not bound. */
int pleat_folded_create(struct pleat_run *run, const struct pleat_folded_request *request,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* The path of the segment, which processes open. Valid while this agent lives. */
void pleat_folded_path(const struct pleat_folded *folded, char *buffer, size_t size);
/* To be called when nothing is left of the run. */
void pleat_folded_stop(struct pleat_folded *folded);
/* Accepts NULL. */
void pleat_folded_destroy(struct pleat_folded *folded);

/* The agent ends: no run is left that shares processors in time. */
void pleat_foldeds_finish(struct pleat_agent *agent);

#endif

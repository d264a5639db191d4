/* fold_tell.h - what an agent says of a folded run: the notification `folded`
 * (docs/protocol.md). */
#ifndef PLEAT_AGENT_FOLD_TELL_H
#define PLEAT_AGENT_FOLD_TELL_H

#include "agent/folded.h"

/* Sends `folded` where its content has changed and the last one was sent a second ago. */
void pleat_folded_tell(struct pleat_folded *folded, int64_t now_us);
/* Adds `processes` and `processors` to what `list` says of the run. Negative: no memory. */
int pleat_folded_describe(const struct pleat_folded *folded, json_t *run) PLEAT_MUST_CHECK;
/* Sends the last `folded` again, as after a new connection. */
void pleat_folded_report(const struct pleat_folded *folded);

#endif

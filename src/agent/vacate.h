/* vacate.h - waits until processes that leave in a shrink are gone. */
#ifndef PLEAT_AGENT_VACATE_H
#define PLEAT_AGENT_VACATE_H

#include <stdint.h>

#include "shm/mailbox.h"

struct pleat_run;
struct pleat_leavers; /* pidfds of the ranks beyond a size */

/* Opens the ranks [first, first+count), as far as they are there and below this agent. NULL: no
 * memory. */
struct pleat_leavers *pleat_leavers_open(struct pleat_run *run, const struct pleat_mailbox *mailbox,
                                         uint32_t first, uint32_t count);
/* Begins to watch leavers, as an entry of `list`. When the last process is gone, the outcome
 * `vacated` with this number of processes is told and the leavers are freed. Takes them over. */
void pleat_leavers_watch(struct pleat_leavers *leavers, struct pleat_leavers **list,
                         uint64_t resize, uint32_t processes);
/* Frees leavers without telling anything. Accepts NULL. */
void pleat_leavers_drop(struct pleat_leavers *leavers);
/* Drops all leavers of a list that is watched. */
void pleat_leavers_drop_all(struct pleat_leavers **list);
/* Tells `vacated`: the processes beyond this number are gone. */
void pleat_leavers_tell(struct pleat_run *run, uint64_t resize, uint32_t processes);

#endif

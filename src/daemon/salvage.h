/* salvage.h - a damaged log: what is good of it, and what that leaves open */
#ifndef PLEAT_DAEMON_SALVAGE_H
#define PLEAT_DAEMON_SALVAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct daemon;

struct salvage {
    char damage[1200];   /* how, and where the damaged file is; "" */
    bool under_way;      /* what the damage leaves open is not settled yet */
    uint64_t runs_below; /* of a salvaged log: runs that it knew at the start have lower ones */
};

/* Of a log that is closed: keeps it aside, opens what is good of it; says so in the damage and,
 * until all is settled, in the new log. *why: what is wrong with it, or (returned) why that failed.
 */
int log_salvage(struct daemon *d, int64_t most_seq, struct pleat_error *why);
/* The damage is not of a log that is all that is known, but of one that a living pleatd has. */
void salvage_say_alive(struct daemon *d);
/* Jobs that were started, and the log does not know: their numbers are not given again. */
void salvage_count_started(struct daemon *d);
/* What the log says of its damage, so that a pleatd after this one knows it too; salvage_put_meta:
 * inside a transaction. */
int salvage_write_meta(struct daemon *d, struct pleat_error *err);
int salvage_put_meta(struct daemon *d, struct pleat_error *err);
/* Cancels waiting jobs of which it is not known any more what they are to run. */
void salvage_lost_specs(struct daemon *d);
/* After a salvage: inputs that settle what is known to be open; jobs whose run no agent has; all
 * agents have said what they run. */
void salvage_begin(struct daemon *d);
void salvage_cancel(struct daemon *d, uint32_t component);
void salvage_settled(struct daemon *d);
/* Of the effects that a recovered core asks for again: takes out the starts of runs of which a lost
 * part of the log may know more. Their agents say whether they have them. */
void salvage_hold_starts(struct daemon *d);
/* For people, as long as the damaged file is there; else NULL. */
const char *salvage_text(struct daemon *d);

#endif

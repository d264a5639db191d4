/* salvage.h - saves what can be read of a damaged log, and settles what the lost part leaves open
 */
#ifndef PLEAT_DAEMON_SALVAGE_H
#define PLEAT_DAEMON_SALVAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct daemon;

struct salvage {
    char damage[1200]; /* for people: how the log was damaged, and where the damaged file is; "": it
                          was not */
    bool under_way;    /* some runs or jobs that the lost part may concern are not settled yet */
    uint64_t runs_below; /* of a salvaged log: all runs that it knew at the start have numbers below
                            this */
};

/* Keeps the file of a closed, damaged log aside, and opens a new one with what can be read of it.
 * Describes the damage in d->salvage and, until all is settled, in the new log. *why: on entry what
 * is wrong with the log; on error why it cannot be salvaged. */
int log_salvage(struct daemon *d, int64_t most_seq, struct pleat_error *why);
/* Changes the description: the log was damaged while pleatd ran, so the state of all jobs is known.
 */
void salvage_say_alive(struct daemon *d);
/* Raises the highest job number to that of any job that was ever started, since the log may not
 * know it: its number must not be given again. */
void salvage_count_started(struct daemon *d);
/* Writes the description of the damage into the log, so that the next pleatd knows it, too.
 * salvage_put_meta does so inside the caller's transaction. */
int salvage_write_meta(struct daemon *d, struct pleat_error *err);
int salvage_put_meta(struct daemon *d, struct pleat_error *err);
/* Cancels waiting jobs whose specs are lost. */
void salvage_lost_specs(struct daemon *d);
/* salvage_begin: after a salvage, queues inputs that settle what is open. salvage_cancel: cancels a
 * job whose run no agent has. salvage_settled: all agents have said what they run, so nothing is
 * open any more. */
void salvage_begin(struct daemon *d);
void salvage_cancel(struct daemon *d, uint32_t component);
void salvage_settled(struct daemon *d);
/* Takes from the effects that a recovered core asks for again the starts of runs. The lost part of
 * the log may know more of such a run: its agent says whether it has it. */
void salvage_hold_starts(struct daemon *d);
/* The description of the damage for people, as long as the damaged file is there; else NULL. */
const char *salvage_text(struct daemon *d);

#endif

/* succession.h - the second generation of a run, in a warm relaunch: what is known of it, and whose
 * processes are its. What is done about it: warm.h; how it is ended: ending.c.
 *
 * A warm relaunch starts the new generation while the old one computes. The second generation is
 * first the new one, and after the hand-over the old one. Nothing that happens to the new one
 * before the hand-over touches the old one.
 *
 *   stage     the second generation is           ends by
 *   COMING    the new one, and starts            its ranks all wait: READY
 *                                                it fails, or nobody wants it any more: UNWANTED
 *   READY     the new one; the relaunch is       the state is saved, or held when the old one has
 *             posted to the old one              died in saving it: hand-over, LEAVING
 *                                                it fails, the old one cannot save, refuses or
 *                                                ends, or nobody wants it any more: UNWANTED
 *   UNWANTED  the new one, and is ended          nothing is left of it: there is none any more
 *   LEAVING   the old one; the new one is the    nothing is left of it: there is none any more, and
 *             run's. It has a grace to end       processors that were given up are told as vacated
 *
 * At most one exists beside `now`, so the next warm relaunch waits until it is gone. A run is over
 * only when both are gone; its exit is that of `now`.
 */
#ifndef PLEAT_AGENT_SUCCESSION_H
#define PLEAT_AGENT_SUCCESSION_H

#include "agent/run.h"
#include "shm/mailbox.h"

enum pleat_succession_stage {
    PLEAT_SUCCESSION_COMING,
    PLEAT_SUCCESSION_READY,
    PLEAT_SUCCESSION_UNWANTED,
    PLEAT_SUCCESSION_LEAVING
};

struct pleat_succession {
    enum pleat_succession_stage stage;
    struct pleat_generation other;
    struct pleat_mailbox *mailbox; /* the mailbox of a new generation; NULL: it was handed over */
    int fd;                        /* its descriptor; -1 */
    struct pleat_mailbox
        *left;           /* LEAVING: the mailbox of the old ranks, until they are dismissed */
    int64_t deadline_us; /* until it must wait (monotonic) */
    struct pleat_error failure; /* why its start failed; code 0: it did not */
    bool ended;                 /* its main process, as `status` says */
    int status;                 /* as from wait(2) */
    /* UNWANTED, LEAVING: as in struct pleat_run */
    int64_t ending_us, term_at_us, kill_at_us;
    unsigned doubts;
    /* told once nothing of the generation is left, so that no processor is given back before: */
    uint64_t resize;
    bool vacates; /* LEAVING: the resize is told as vacated, with `processes` processes */
    uint32_t processes;
    const char *outcome; /* UNWANTED: the outcome of the resize that is told; NULL: none */
    json_t *params;
};

/* Sets run->succession: COMING, with a mailbox whose program waits; nothing is started yet. */
int pleat_succession_make(struct pleat_run *run, uint32_t max_ranks,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Frees the second generation. Its processes must be gone, or the run. Accepts a run without
 * one. */
void pleat_succession_free(struct pleat_run *run);
/* The second generation is to end: told after `patience_us`, killed after the grace. The earlier
 * time counts. A new one is unwanted from now on. Accepts a run without one. */
void pleat_succession_end(struct pleat_run *run, int64_t patience_us, int64_t grace_us);
/* As above, at once, for a new generation; an old one is left alone. */
void pleat_succession_drop(struct pleat_run *run);
/* Whether the second generation is being ended, or watched until it has ended. */
bool pleat_succession_ends(const struct pleat_run *run);
/* Tells the outcome of a resize (pleat_outcome_add): now, or once a new generation that was started
 * for it is gone. */
void pleat_succession_tell(struct pleat_run *run, const char *outcome, uint64_t resize,
                           json_t *params);
/* Drops what was to be told when the second generation is gone. Accepts a run without one. */
void pleat_succession_hush(struct pleat_run *run);
/* Those that have taken over compute, or will not: the others may end (pleat_mailbox_dismiss).
 * Accepts a run without any. */
void pleat_succession_dismiss(struct pleat_run *run);
/* Whether the outcome of that resize is still to be told. */
bool pleat_succession_will_tell(const struct pleat_run *run, uint64_t resize);
/* Whether the run cannot be over yet because of its second generation. */
bool pleat_succession_holds(const struct pleat_run *run);
/* Whether a process of the run (owner.h), in agent->tree, is of the second generation. */
bool pleat_succession_has(const struct pleat_run *run, const struct pleat_process_entry *process);

#endif

/* account.h - the account of a job: its sizes over time, its resizes, and the processor-seconds
 * that it used, learned from the job's notes. docs/protocol.md ("history") says what the figures
 * mean.
 *
 * Notes must be given in the order in which they were made. The same notes give the same account,
 * whether they come one by one as things happen or all at once from the store.
 */
#ifndef PLEAT_DAEMON_ACCOUNT_H
#define PLEAT_DAEMON_ACCOUNT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/array.h"
#include "model/spec.h"
#include "model/types.h"
#include "model/way.h"

/* A resize of the job. */
struct change {
    int64_t resize;
    int32_t from, to;
    int64_t begun_us, end_us;
    int64_t waiter;   /* the job for which this one shrinks; -1: none */
    char outcome[24]; /* "" while the resize is under way */
    bool granted;     /* the processors of a growth are held, or those of a shrink are being left */
    bool mandatory, has_cost;
    char by[8]; /* who began it: "user", "policy", "site" */
    int64_t wait_us, processes_us, redistribute_us, total_us, bytes;
    enum pleat_resize_way way; /* how it is done, or was; AUTO: not known */
    char reason[96];           /* why that way was chosen; "": there was nothing to choose */
    bool instead;              /* it was to be a warm relaunch, which could not be */
    int64_t held_us; /* processor-microseconds that the job held while the resize was under way */
};

/* A size of the job, from time_us on. */
struct sized {
    int64_t time_us;
    int32_t processors;
};

/* How long the job held that number of processors, summed over all its runs. */
struct usage {
    int32_t processors;
    int64_t us;
};

/* The reason of a resize over several nodes, whose pause says nothing about one on a single node.
 */
#define ACCOUNT_OVER_NODES "its ranks are, or will be, on several nodes"

/* What an agent says that a resize has cost the job's processes. */
struct change_cost {
    int64_t wait_us, processes_us, redistribute_us, total_us, bytes;
    enum pleat_resize_way way; /* AUTO: not known */
    bool instead;              /* as in struct change */
};

PLEAT_ARRAY(changes, struct change);
PLEAT_ARRAY(sizings, struct sized);
PLEAT_ARRAY(usages, struct usage);
PLEAT_ARRAY(way_samples, struct pleat_way_sample);

struct account {
    struct sizings sizes;
    struct changes changes;
    struct usages usages; /* ordered by processors, the fewest first */
    json_t *checkpoint;   /* the last one that was written, as its note; NULL: none was */
    json_t *buffer; /* of an evolving job: what its last run that is over asked for, and what its
                     * buffer was worth; NULL: none is */
    int checkpoint_place; /* which of the regular checkpoints was the last one, from 1; 0: none was
                           * written */
    bool goes_on;         /* from `checkpoint`, when it is started again */
    int64_t checkpoint_last; /* the number of the last checkpoint of which the outcome is known */
    char *text; /* the last warning about the job that still matters to people; NULL: none */
    int64_t cpu_us;
    int64_t memory_kb;  /* peak of all processes of a run together; 0: not known */
    int64_t max_rss_kb; /* peak of the largest process of any run; 0: not known */
    bool has_cpu;
    bool runs;
    /* ended_early: the note of its end came before that of its start, as where both are told at
     * once; text_of_end: the text came with that end */
    bool ended_early, text_of_end;
    int32_t applied;  /* the number of processors that the job runs on now */
    int64_t since_us; /* the moment up to which `usages` and `held_us` are summed */
};

/* Frees what an account owns, and empties it. An account of zero bytes is empty. */
void account_finish(struct account *account);
/* Learns from a note; `data` stays the caller's. */
void account_note(struct account *account, const char *kind, int64_t time_us, const json_t *data);
/* Brings the sums of a running job up to a moment; no effect if they are there already. */
void account_until(struct account *account, int64_t time_us);
/* Adds what a resize cost the job's processes: the store's notes have that only once the resize has
 * ended. False: the cost was known already, or there is no such resize. */
bool account_cost(struct account *account, int64_t resize, const struct change_cost *cost);
/* Appends what the job's resizes say of the two ways, the oldest first. PLEAT_E_NOMEM. */
int account_add_ways(const struct account *account, struct way_samples *samples) PLEAT_MUST_CHECK;
/* A resize by its number, or NULL. Borrowed until the account changes. */
const struct change *account_change(const struct account *account, int64_t resize);

/* Sets members of a job: "grown", "shrunk", "failed_resizes", "resize_s", "memory_kb",
 * "max_rss_kb", "checkpoint", "text". */
void account_add_counts(const struct account *account, json_t *object);
/* "sizes" (over time) and "resizes", as in a job's "history". NULL when out of memory. */
json_t *account_to_history(const struct account *account);
/* Sets members of an entry of `history`: "processor_s", "resize_s", "cpu_s", "memory_kb",
 * "max_rss_kb", "sizes" (sums), "resizes". */
void account_add_use(const struct account *account, json_t *object);

#endif

/* account.h - what a job did and what it used, learned from its notes: sizes over time, resizes,
 * processor-seconds. docs/protocol.md ("history") says what the figures mean.
 *
 * Notes are taken in the order in which they were made; the same notes give the same account,
 * whether they come one by one as things happen or all at once from the store.
 */
#ifndef PLEAT_DAEMON_ACCOUNT_H
#define PLEAT_DAEMON_ACCOUNT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/array.h"
#include "model/types.h"

/* A resize. */
struct change {
    int64_t resize;
    int32_t from, to;
    int64_t begun_us, end_us;
    int64_t waiter;   /* job or -1 */
    char outcome[24]; /* "" while under way */
    bool granted;     /* processors for it are held, or being left */
    bool mandatory, by_user, has_cost;
    int64_t wait_us, processes_us, redistribute_us, total_us, bytes;
    int64_t held_us; /* processor-microseconds held while it was under way */
};

/* From then on it runs on so many processors. */
struct sized {
    int64_t time_us;
    int32_t processors;
};

/* How long it held so many processors, over all its runs. */
struct usage {
    int32_t processors;
    int64_t us;
};

PLEAT_ARRAY(changes, struct change);
PLEAT_ARRAY(sizings, struct sized);
PLEAT_ARRAY(usages, struct usage);

struct account {
    struct sizings sizes;
    struct changes changes;
    struct usages usages; /* by processors, the fewest first */
    char *text;           /* the last thing that people should know about it, or NULL */
    int64_t cpu_us;
    int64_t memory_kb;  /* of all processes of a run together, the most; 0: not known */
    int64_t max_rss_kb; /* of the largest process of all runs; 0: not known */
    bool has_cpu;
    bool runs;
    int32_t applied;  /* processors it runs on now */
    int64_t since_us; /* what came before is in the sums */
};

/* A zeroed account is empty. */
void account_finish(struct account *account);
/* Learns from a note. */
void account_note(struct account *account, const char *kind, int64_t time_us, const json_t *data);
/* Brings the sums of one that runs up to a moment. */
void account_until(struct account *account, int64_t time_us);
/* Adds what a resize cost its processes; it is in the notes only once the resize has ended. False:
 * that was known, or there is no such resize. */
bool account_cost(struct account *account, int64_t resize, int64_t wait_us, int64_t processes_us,
                  int64_t redistribute_us, int64_t total_us, int64_t bytes);
/* A resize by its number, or NULL. */
const struct change *account_change(const struct account *account, int64_t resize);
/* Processor-microseconds held, so far as they are in the sums. */
int64_t account_held_us(const struct account *account);

/* Members of a job: "grown", "shrunk", "failed_resizes", "resize_s", "text". */
void account_add_counts(const struct account *account, json_t *object);
/* "sizes" (over time) and "resizes", as in a job's "history". NULL when out of memory. */
json_t *account_to_history(const struct account *account);
/* Members of an entry of `history`: "processor_s", "resize_s", "cpu_s", "sizes" (sums), "resizes".
 */
void account_add_use(const struct account *account, json_t *object);

#endif

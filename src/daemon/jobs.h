/* jobs.h - what the daemon knows of a job beyond the core */
#ifndef PLEAT_DAEMON_JOBS_H
#define PLEAT_DAEMON_JOBS_H

#include <jansson.h>

#include "base/array.h"
#include "model/types.h"

struct account;
struct daemon;
struct pleat_component;
struct pleat_runner;

struct job {
    int64_t id;
    uint32_t component;
    bool ended;              /* its state is final */
    bool accounted;          /* its account is in the store: it is shown from there */
    bool gone;               /* being forgotten */
    bool kill_at_once;       /* where it is ended, without SIGTERM before */
    const char *runner;      /* its name; NULL: not asked for yet */
    struct account *account; /* NULL: not asked for yet, see job_account */
    int64_t iteration, iteration_us;
    bool has_progress;
    int32_t timed_size; /* for which the core was told what an iteration takes; 0: none */
    int64_t timed_us;   /* what it was told */
    int32_t redistributed_size;
    int64_t redistributed_us; /* what the last change, to that size, took its ranks; 0: unknown */
    bool spec_lost;           /* and what stands for it must not be run */
    json_t *folded;           /* what the agent said last of how it is folded; NULL: nothing yet */
    uint64_t folded_run;      /* ... of this run */
};

PLEAT_ARRAY(job_list, struct job *);

struct jobs {
    struct job_list by_component; /* NULL: forgotten */
    struct job_list by_number;    /* the same, the lowest number first */
    size_t living;                /* that have not ended */
    int64_t last_number;          /* the highest number given */
};

/* A job that the core has begun to know. Numbers only grow; a recovery, which finds jobs by
 * component, sorts when all are there. */
int job_add(struct daemon *d, int64_t id, uint32_t component);
void jobs_sort(struct daemon *d);
struct job *job_find(struct daemon *d, int64_t id);
struct job *job_of_component(struct daemon *d, uint32_t component);
/* The place in d->jobs.by_number of the first job with a number above `id`. */
size_t job_after(const struct daemon *d, int64_t id);
void job_ended(struct daemon *d, struct job *job);
/* Those that are `gone`. */
void jobs_forget(struct daemon *d);
void jobs_finish(struct daemon *d);
const struct pleat_component *job_component(struct daemon *d, const struct job *job);
bool job_is_over(struct daemon *d, const struct job *job);
struct pleat_runner *job_runner(struct daemon *d, struct job *job);
/* Its account, read from its notes when first asked for, and kept up from then on. Never NULL: out
 * of memory, or where the store cannot be read, it is empty (and that is logged). */
struct account *job_account(struct daemon *d, struct job *job);
void job_drop_account(struct job *job);
/* A note was made: the account follows, where there is one. */
void job_note(struct daemon *d, int64_t job, const char *kind, int64_t time_us, const json_t *data);

#endif

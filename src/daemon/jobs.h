/* jobs.h - what the daemon knows of a job beyond the core */
#ifndef PLEAT_DAEMON_JOBS_H
#define PLEAT_DAEMON_JOBS_H

#include <jansson.h>

#include "base/array.h"
#include "daemon/demands.h"
#include "daemon/measured.h"
#include "model/types.h"

struct account;
struct daemon;
struct pleat_component;
struct pleat_runner;

struct job {
    int64_t id;
    uint32_t component;
    bool ended;              /* the component's state is final */
    bool accounted;          /* the store has its account, from which it is shown */
    bool gone;               /* the core has forgotten it; jobs_forget removes it */
    bool name_hashed;        /* name_hash is known */
    uint32_t name_hash;      /* see depend.c */
    bool kill_at_once;       /* when it is ended: without SIGTERM before */
    const char *runner;      /* name of its runner; NULL: not looked up yet */
    struct account *account; /* NULL: not read yet, see job_account */
    uint64_t first_note;     /* where its notes that are not written yet begin, see notes_told */
    uint32_t note_count;     /* how many these are */
    int64_t iteration, iteration_us;
    bool has_progress;
    int32_t timed_size;             /* size whose iteration time the core knows; 0: none */
    int64_t timed_us;               /* that iteration time */
    uint64_t told_run;              /* the run of which this was told */
    uint64_t told_grid;             /* and the process grid (base/grid.h); 0: none */
    struct measured_sizes measured; /* since the daemon was started */
    struct demand demand;           /* evolving: what its run asks for, likewise */
    int64_t told_count; /* of the iterations at that size: of how many the core knows the mean, */
    double told_us, told_squares; /* their microseconds, and the squares of these, summed up */
    uint64_t recalled;      /* d->programs.news when it was last told of earlier runs; 0: never */
    uint32_t recalled_site; /* and the site + 1 at which these were */
    int32_t redistributed_size;
    int64_t redistributed_us;   /* time that redistribution took in the last resize, to
                                   redistributed_size; 0: unknown */
    int64_t paused_us;          /* how long the program stood still for it, starting and ending
                                 * processes included */
    int32_t redistributed_from; /* the size before it */
    bool spec_lost;             /* what was submitted is lost: the job must not be started */
    uint64_t went_on;           /* the last relaunch of which it was noted where it goes on */
    uint64_t left_run;          /* the run that its agent on node left_node has ended, to go on from
                                 * its state on another one; 0: that agent has none to forget */
    uint32_t left_node;
    uint64_t start_run; /* the run of which start_left is known */
    int64_t start_left; /* evolving: its processes of the start that are left, as its agent said */
    uint32_t waited_on; /* evolving: architectures for which its requests have waited, as bits */
    json_t *saved;      /* about the last copy that its program saved between resizes; NULL:
                         * none */
    int64_t not_now;    /* ranks of its program that are in a section without changes */
    json_t *expects;    /* what its program said it expects; NULL: nothing */
    json_t *points;     /* its named adaptation points, as its agent said; NULL: none */
    json_t *folded;     /* what its agents said last of its folding, all nodes together;
                         * NULL: nothing yet */
    json_t *folded_nodes; /* of each node, by its number; NULL: nothing yet */
    uint64_t folded_run;  /* the run that these are about */
};

PLEAT_ARRAY(job_list, struct job *);

/* An ended job that may be let go of. */
struct job_end {
    int64_t end_us, job;
};

PLEAT_ARRAY(job_ends, struct job_end);

struct jobs {
    struct job_list by_component; /* by the core's index; NULL: no job has it */
    struct job_list by_number;    /* by job number, the lowest first */
    struct job_ends by_end;       /* the ended ones from next_end on, the first to end first */
    size_t next_end;
    size_t living;       /* number of jobs that have not ended */
    size_t leaving;      /* number of jobs that are `gone` and still in the lists */
    int64_t leaves_from; /* the lowest number of these */
    int64_t last_number; /* the highest job number given so far */
};

/* Adds a job that the core knows. Job numbers must grow from call to call; a recovery, which finds
 * jobs in the order of components, calls jobs_sort when all are added. */
int job_add(struct daemon *d, int64_t id, uint32_t component);
void jobs_sort(struct daemon *d);
struct job *job_find(struct daemon *d, int64_t id);
struct job *job_of_component(struct daemon *d, uint32_t component);
/* The index in d->jobs.by_number of the first job with a number above `id`. */
size_t job_after(const struct daemon *d, int64_t id);
void job_ended(struct daemon *d, struct job *job);
/* The ended job that ended first, of those that jobs_pass_first_ended has not passed; NULL: there
 * is none. *end_us: when it ended. */
struct job *jobs_first_ended(struct daemon *d, int64_t *end_us);
void jobs_pass_first_ended(struct daemon *d);
/* The core has forgotten the job. */
void job_gone(struct daemon *d, struct job *job);
/* Removes the jobs that are `gone`. */
void jobs_forget(struct daemon *d);
void jobs_finish(struct daemon *d);
const struct pleat_component *job_component(struct daemon *d, const struct job *job);
struct pleat_runner *job_runner(struct daemon *d, struct job *job);
/* The account of a job. It is read from the job's notes on the first call (blocks on the store),
 * and job_note keeps it up to date. Never NULL: if memory is short or the store cannot be read, it
 * is empty (logged). */
struct account *job_account(struct daemon *d, struct job *job);
void job_drop_account(struct job *job);
/* A note was made about a job: adds it to the job's account, if that is in memory. */
void job_note(struct daemon *d, int64_t job, const char *kind, int64_t time_us, const json_t *data);
/* The first `count` notes are written and told, and go. */
void jobs_told(struct daemon *d, size_t count);

/* What a node's agent says of how its part of a run is folded (docs/protocol.md, "Members of
 * folded"). */
void job_folded_take(struct job *job, uint64_t run, uint32_t node, const json_t *params);

/* The number of ranks of its program that are in a section in which it is not resized, as its agent
 * said last. */
int64_t job_not_now(const struct job *job, const struct pleat_component *component);

#endif

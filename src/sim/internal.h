/* internal.h - a run of the simulator, shared by its files.
 *
 * Everything that waits for a time has a timer in one heap. What the core asks for is answered at
 * once by an input, or by a timer that gives the input later. An application's record has the index
 * of its component. The core uses an index again once the component was forgotten: so there are
 * only as many records as components were alive at one time. */
#ifndef PLEAT_SIM_INTERNAL_H
#define PLEAT_SIM_INTERNAL_H

#include "base/heap.h"
#include "base/random.h"
#include "sim/queue.h"
#include "sim/sim.h"

/* The events of local users and failing nodes never cease. If nothing has happened to any job for
 * this time, jobs that wait are taken to wait for ever. */
#define PATIENCE_US (INT64_C(366) * 24 * 3600 * 1000000)

#define LATEST_US (INT64_MAX / 2) /* nothing ends later: room for delays after that */

enum timer_kind {
    TIMER_APP,     /* component: see app_milestone */
    TIMER_ADAPT,   /* component: an adaptation point, or the end of standing still at one */
    TIMER_FILES,   /* component: its files are there */
    TIMER_SUBMIT,  /* job, by index: its user has thought long enough */
    TIMER_CLAIM,   /* claim: the site has claimed the processors */
    TIMER_RELEASE, /* claim: the processors are the site's again */
    TIMER_JOIN,    /* site, as all below */
    TIMER_LEAVE,
    TIMER_FAILURE,     /* the next node goes down */
    TIMER_REPAIR,      /* a node comes back */
    TIMER_TRACE,       /* the next point of the background load */
    TIMER_LOCAL,       /* a local user's job comes */
    TIMER_LOCAL_ENDED, /* a local user's job ends; extra: its processors */
    TIMER_POLL,        /* the next look at what others use, where that has changed */
    TIMER_QUEUE        /* something happens in the queue of its batch system */
};

enum app_stage {
    APP_GONE,    /* no job has this record */
    APP_WAITING, /* no processes */
    APP_STARTING,
    APP_COMPUTING,
    APP_STANDING, /* still, to change its size */
    APP_MOVING    /* its processes have ended, and are started again on another node */
};

/* Its members stand in the order of their use, in four lines of the cache: of a job that waited for
 * long none is in a cache any more when it starts. */
struct app {
    /* set by its submission: no more of the record is used until it starts */
    size_t job;
    const struct pleat_workload_job *wish;
    const struct pleat_app *model;
    double own_duration;                      /* microseconds that all of its work takes at
                                               * own_size */
    int32_t own_size;                         /* the size that its job names; 0: it is folded */
    uint32_t timer, adapt_timer, files_timer; /* PLEAT_HEAP_NONE */
    uint32_t sibling; /* the next component of its job, in a ring; PLEAT_NONE */
    uint32_t wave;    /* component-and-work: the newest wave; PLEAT_NONE */
    uint32_t phase;   /* the next phase; 0 is the application's first */
    uint8_t stage;
    bool plain; /* its work is one piece: no phases, asks, sections, pieces of work or objects; and
                 * no files */
    bool lacks; /* it lacks processors without which it cannot go on, and stands still */
    bool started : 1; /* at least once */
    bool killed : 1;
    bool resized : 1; /* in this run */

    uint64_t run;    /* the core's number of this start */
    uint64_t resize; /* the resize that it was told of and has not applied; 0: none */
    double left;     /* the share of the work that was left at since_us; 1 at the start */
    double duration; /* microseconds that all of its work takes at the present size */
    double area;     /* processor-microseconds of this run until sized_us */
    int64_t since_us;
    int64_t sized_us;
    int64_t begun_us; /* adaptation points are counted from here */

    int64_t end_us;     /* when its work ends; PLEAT_NEVER while it stands still */
    int64_t kill_us;    /* when it is killed, at its estimate; PLEAT_NEVER */
    int64_t decided_us; /* when its start, or the resize under way, was decided */
    /* when the first whole iteration at this size ends; PLEAT_NEVER: it is reported, or nobody
     * wants to know */
    int64_t timed_us;
    int64_t stood_us; /* standing still for the change to this size; 0: the run began at it */
    int32_t size, target;
    int32_t processes; /* of a folding application, in this run */
    uint32_t site;
    int32_t wanted_minimum; /* a minimum that the core refuses until the size has reached it; 0:
                             * none */
    int32_t owed;           /* processors to be given back once a resize is over */

    /* what only resizes, files, and applications that are not plain need */
    uint64_t staging_number; /* the id of the effect STAGE under way */
    int64_t lacks_us;        /* since when it stands still */
    int32_t offered;
    int32_t completed; /* pieces of work done by components that are gone */
    uint32_t ask;      /* the next ask; 0 is the application's first */
    uint32_t asked;    /* how often it asked in this run */
    uint32_t returned; /* how often it gave some back in this run, at once */
    uint32_t section;  /* beginnings and ends of sections in this run: odd in one */
    bool section_told; /* the core knows that it is in a section */
    bool asked_more;   /* its latest ask was for more processors, not for fewer */
    bool mandatory;
    bool processes_start; /* those of the growth that it was told of, until when it computes on */
    int32_t sized_from;   /* the size before the present one; 0: it started with this */
    int32_t
        reported; /* iterations at the present size of which the core knows how long they took */
    char spare2[12];
};

_Static_assert(sizeof(struct app) == 256 && offsetof(struct app, run) == 64 &&
                   offsetof(struct app, end_us) == 128 &&
                   offsetof(struct app, staging_number) == 192,
               "what most jobs need are three lines of the cache");

PLEAT_ARRAY(apps, struct app);

struct wave { /* components that began their present piece of work at the same time */
    int64_t began_us;
    int32_t count;
    uint32_t next; /* an earlier wave of the same application, or the next free record */
};

PLEAT_ARRAY(waves, struct wave);

PLEAT_ARRAY(iteration_list, int32_t);

struct objects {      /* of an application that asks for processes, by component */
    double object_us; /* microseconds of an iteration for one object in this run */
    int32_t done;     /* iterations done at the application's since_us */
    int32_t next;     /* the number of iterations after which something happens */
    int32_t gained;   /* how often it gained objects */
    int32_t lost;     /* how often it lost such a gain */
    /* the number of iterations after which it has noticed the last gain, and asks */
    int32_t asks_from;
    struct pleat_random random;  /* of this run */
    struct iteration_list asked; /* iterations at whose ends it asked */
};

PLEAT_ARRAY(objects_list, struct objects);

/* how often an application asked, by iteration, in its runs that came to their end */
struct requests {
    int32_t *by_iteration;
    int32_t executions;
    uint32_t most;        /* in a row, as the core counts them */
    int64_t iteration_us; /* the means of all executions, summed up */
};

struct claim_timer {
    uint64_t claim;
    uint32_t timer;
    uint32_t allocation; /* at a site with a batch system: index of the claim's allocation;
                          * PLEAT_NONE */
};

struct allocation {                /* of a batch system */
    uint64_t claim;                /* the claim for which it was asked */
    uint32_t index;                /* of that claim */
    uint32_t claims;               /* the number of claims in it; 0: the record is free */
    int32_t spare;                 /* processors that no claim has any more */
    int32_t count;                 /* its processors */
    uint32_t host;                 /* a node on whose host it is to be; PLEAT_NONE: any will do */
    bool held;                     /* it has processors: it does not wait */
    bool told;                     /* the core knows its nodes */
    uint8_t waits;                 /* what the core was told: why it waits, enum pleat_claim_wait
                                    * ... */
    int64_t expected_us, until_us; /* ... when it may start; when it is given up */
    int64_t leave_us;              /* PLEAT_NEVER: it has no limit */
    int64_t asked_us;
};

PLEAT_ARRAY(allocations, struct allocation);

struct lent_node {       /* of a batch system, as far as an allocation of Pleat's has it */
    uint32_t allocation; /* PLEAT_NONE: its number is free */
    int32_t slots;       /* those of the allocation there */
    int32_t unused;      /* ... that no claim has */
    uint32_t home;       /* a node of an earlier allocation on the same host; PLEAT_NONE */
    int32_t more;        /* what was told of its host */
    bool leaves, gone;   /* it came later: it is to be told that it has gone; it was */
};

PLEAT_ARRAY(lent_nodes, struct lent_node);

struct batch { /* the batch system of a site */
    struct queue queue;
    struct allocations allocations;
    struct lent_nodes nodes; /* by number; empty unless the core is told of nodes */
    size_t next;             /* the next of the listed jobs of other users */
    uint32_t timer;
    bool changed; /* something has changed since it was last asked who may start */
};

PLEAT_ARRAY(claim_timers, struct claim_timer);
PLEAT_ARRAY(local_jobs, int32_t);
PLEAT_ARRAY(claim_list, uint32_t);
PLEAT_ARRAY(due_list, uint32_t);

struct follower {         /* who follows a job: indexes of jobs */
    uint32_t first, next; /* the first job that follows this one; the next that follows the same one
                           * as this; PLEAT_NONE */
    bool follows;         /* this job follows another one */
};

struct site {
    const struct pleat_sim_site *spec;
    struct pleat_random delays, failures, load; /* one for each kind of chance, so that no kind
                                                 * changes another */
    int64_t counted_us;                         /* totals are counted up to here */
    double capacity_us, background_us;
    double marked_capacity_us, marked_background_us; /* as of the last end of a job */
    size_t trace_next;
    struct local_jobs waiting; /* sizes of local jobs that wait for processors, from `first` on */
    size_t first;
    int32_t down;   /* nodes */
    int32_t wanted; /* processors that local users want by the trace */
    int32_t local;  /* processors that they have */
    /* processors lost with a node or the site, of local jobs whose TIMER_LOCAL_ENDED is still to
     * come */
    int32_t local_lost;
    int32_t background; /* the background load last told to the core */
    uint32_t failure_timer, poll_timer;
    struct batch batch;
    int64_t polled_us;  /* since when it is polled: it has joined then */
    bool instant;       /* the core need not ask the site */
    bool present, left; /* neither: the site has not joined yet */
};

struct sim {
    const struct pleat_workload *workload;
    const struct pleat_sim_options *options;
    struct pleat_sim_outcome *outcomes;
    struct pleat_sim_totals *totals;
    struct pleat_error *err;
    struct pleat_core *core;
    const struct pleat_view *view;
    struct pleat_heap timers;
    struct pleat_effects effects;
    struct pleat_events decisions;
    struct apps apps; /* by component */
    struct waves waves;
    struct objects_list objects; /* by component, as far as records were needed */
    struct requests *requests;   /* by application; NULL: none asks for processes */
    uint32_t free_wave;
    uint32_t queue_first;       /* the head of the queue when records were last fetched */
    uint32_t foreseen;          /* the last component whose records have been fetched; */
    size_t ahead;               /* how many, from the head of the queue to that; 0: none */
    struct claim_timers claims; /* by claim; empty where all sites are instant */
    struct claim_list struck;   /* scratch of site.c */
    struct site *sites;
    int32_t *lists; /* by application: the list of its table's sizes; NULL: no application has a
                     * table */
    uint32_t lead;  /* of the job that is being submitted; PLEAT_NONE */
    struct follower *followers; /* by job; NULL: nobody waits for another */
    struct due_list due;        /* followers to be submitted at this instant; the last one first */
    size_t thinking;            /* followers whose user thinks: each has a timer */
    uint32_t site_count;
    bool is_watched;      /* inputs and decisions are logged, or the core is checked after each */
    bool reads_decisions; /* decisions are read: they tell what effects do not */
    bool reads_times;     /* a policy wants to know what iterations take */
    bool reads_measures;  /* ... and how much they differ */
    struct pleat_random noise; /* by which the times of iterations differ */
    bool lends;                /* a site has a batch system: nodes come with allocations */
    bool tells_nodes;          /* ... and jobs fold or move, so that it matters which they are */
    bool moves; /* jobs leave the node from which they are led when its time is over: its parameters
                 * (MOVE_US, REPLACE_US, SHRINK_OFF_US) say so */
    bool crowded; /* local users wait for processors, or may come to wait */
    int64_t now_us;
    int64_t last_us; /* the latest time at which something happened, or will by itself, to a job */
    int64_t next_submit_us; /* of next_job; PLEAT_NEVER */
    size_t next_job, ended;
    size_t report_at, instants;
    uint64_t passes_left; /* at this instant */
};

/* ---- inputs.c ---- */
int nomem(struct sim *sim);
/* Applies an input, or finds that it comes too late; its effects wait in sim->effects. */
int input(struct sim *sim, const struct pleat_event *event);
/* The same; why the input is refused goes to *err. */
int input_or_why(struct sim *sim, const struct pleat_event *event, struct pleat_error *err);
/* The same, but a refusal is no error of the run: gives the core's code, without a text. */
int try_input(struct sim *sim, const struct pleat_event *event);
/* Writes inputs and decisions to the log of the run, and has the core checked, where that is wanted
 * (is_watched). */
int record(struct sim *sim, const struct pleat_event *events, size_t count);
/* Tells the run's watcher (options->on_change) that a job's partition changed. */
int changed(struct sim *sim, const struct app *app, int32_t from, int32_t to, int64_t stood_us);
int set_timer(struct sim *sim, enum timer_kind kind, uint32_t index, uint32_t extra, int64_t at_us,
              uint32_t *handle);
void stop_timer(struct sim *sim, uint32_t *handle);

/* ---- asks.c ---- */
/* What the application asks for next; NULL: nothing more. */
const struct pleat_workload_ask *next_ask(const struct sim *sim, const struct app *app);
/* The application makes that ask. Its work is counted up to now. */
int app_ask(struct sim *sim, uint32_t component);
/* Counts the answer to an application's ask; false: it has asked anew, or runs no more. */
bool ask_answered(struct sim *sim, const struct app *app, const struct pleat_effect *answer);

/* ---- sections.c: of applications that are not plain ---- */
/* Whether the application is in a section in which nothing may change. */
bool in_section(const struct app *app);
/* When its next section begins, or the one in which it is ends; PLEAT_NEVER: there is none. */
int64_t section_next(const struct app *app);
/* A section begins or ends now: the core is told, if it has to know. */
int section_step(struct sim *sim, uint32_t component);

/* ---- outcome.c ---- */
/* Gives a component other limits; the core's code, without a text. */
int set_limits(struct sim *sim, uint32_t component, int32_t minimum, int32_t maximum);
/* If a run of the component has come to its end: sets the outcome of its job, or, if the component
 * waits for another run, its first limits. The core forgets a component that has ended, and uses
 * its record again: so this is called at once after every input that may end one. */
int conclude(struct sim *sim, uint32_t component);
/* The job is over: nothing more happens to it. */
int job_over(struct sim *sim, size_t index);

/* ---- submit.c ---- */
/* Submits a job with all of its components: those of the rows from `first` to `last`. */
int submit_job(struct sim *sim, size_t first, size_t last);
/* The row of the last component of the job that begins at row `first`. */
size_t last_part(const struct sim *sim, size_t first);

/* ---- configure.c ---- */
int configure(struct sim *sim);

/* ---- feedback.c ---- */
/* Finds which job follows which. PLEAT_E_INVALID: a job follows itself, or a later one. */
int feedback_create(struct sim *sim);
void feedback_destroy(struct sim *sim);
/* A job is over, whatever its fate: starts the timers of the jobs that follow it. */
PLEAT_COLD int feedback_over(struct sim *sim, size_t index);
/* The timer of a following job has run out: it is to be submitted at this instant. */
PLEAT_COLD int feedback_due(struct sim *sim, uint32_t index);

/* ---- sizes.c ---- */
/* Tells the core the lists that jobs refer to. */
int sizes_begin(struct sim *sim);

/* ---- app.c ---- */
int app_start(struct sim *sim, uint32_t component, uint64_t run, int32_t size, int32_t processes);
int app_resize(struct sim *sim, const struct pleat_effect *effect);
int app_withdraw(struct sim *sim, uint32_t component, uint64_t resize);
int app_kill(struct sim *sim, uint32_t component, uint64_t run);
int app_milestone(struct sim *sim, uint32_t component);
int app_adapt(struct sim *sim, uint32_t component);
/* An application that asks for processes has got one. */
int app_added(struct sim *sim, uint32_t component);
/* An application has the answer to what it asked for. */
int app_answered(struct sim *sim, const struct pleat_effect *answer);
/* Finds an application's next milestone again, which may have changed. */
int app_reschedule(struct sim *sim, uint32_t component);

/* Counts what a running application did at its present size, up to now. */
static inline void app_count_area(struct sim *sim, struct app *app)
{
    double area = (double)(sim->now_us - app->sized_us) * app->size;
    app->area += area;
    sim->totals->busy_us += area;
    app->sized_us = sim->now_us;
}

/* ---- app_limits.c ---- */
/* Sets the limits of the phase that begins. The core refuses a minimum above the present size: then
 * the old minimum holds until the application has grown to the new one. */
PLEAT_COLD int app_enter_phase(struct sim *sim, uint32_t component,
                               const struct pleat_phase *phase);
/* Once the application has grown so far: sets a minimum that was refused before. */
int app_want_minimum(struct sim *sim, uint32_t component);
/* Lowers the maximum to the number of processors that the rest of the work can use. */
int app_limit_to_work(struct sim *sim, uint32_t component);
/* The application gives back the processors that it owes: now, or after the resize that is under
 * way. */
int app_give_back(struct sim *sim, uint32_t component);

/* ---- app_timing.c ---- */
/* Takes off the work that an application has done until now. */
void app_account(const struct sim *sim, struct app *app);
/* The time at which the share `left` of its work, or less, will be left; PLEAT_NEVER: later than
 * LATEST_US. */
int64_t app_time_of(const struct app *app, double left);
/* Sets when the first report of what an iteration takes at the present size is due. */
void app_restart_timing(const struct sim *sim, struct app *app);
/* Reports what an iteration takes at the present size. */
PLEAT_COLD int app_tell_timing(struct sim *sim, uint32_t component);

/* ---- work.c: component-and-work applications ---- */
PLEAT_COLD int work_begin(struct sim *sim, struct app *app);
PLEAT_COLD int work_resize(struct sim *sim, struct app *app, int32_t from, int32_t to);
/* The next moment at which a component of an application that gives processors back ends its piece;
 * PLEAT_NEVER. */
PLEAT_COLD int64_t work_next(const struct sim *sim, const struct app *app);
/* Removes the components that have ended by now; returns how many. */
PLEAT_COLD int32_t work_ended(struct sim *sim, struct app *app);
/* When the last of an application's work will be done at the present size. */
PLEAT_COLD int64_t work_end(const struct sim *sim, const struct app *app);
void work_finish(struct sim *sim, struct app *app);

/* ---- objects.c: applications that ask for processes ---- */
int objects_create(struct sim *sim);
void objects_destroy(struct sim *sim);
/* Tells the core what earlier runs of an application asked for; after the submission of this one.
 */
PLEAT_COLD int objects_submitted(struct sim *sim, uint32_t component);
PLEAT_COLD int objects_begin(struct sim *sim, uint32_t component);
/* The end of the next iteration at which something may happen. */
PLEAT_COLD int64_t objects_next(struct sim *sim, uint32_t component);
/* At the end of such an iteration: the application asks for processes, and tells how far it is.
 * *done: its work is done. *vacates: it needs its last process no more, and has vacated it: that is
 * then told by objects_vacated. */
PLEAT_COLD int objects_milestone(struct sim *sim, uint32_t component, bool *done, bool *vacates);
PLEAT_COLD int objects_vacated(struct sim *sim, uint32_t component);
/* The run of an application ends, by itself or not. */
PLEAT_COLD int objects_end(struct sim *sim, uint32_t component, bool done);

/* ---- site_state.c ---- */
/* Tells the core what the capacity of a site is. */
int site_tell(struct sim *sim, uint32_t index, int32_t capacity);
/* All slots of all nodes, up or not. */
int32_t site_capacity(const struct pleat_sim_site *spec);
/* Draws a delay in microseconds; 0 if there is none. */
int64_t site_delay(struct site *site, const struct pleat_delay *delay);
/* Does this start, or claim, fail? Drawn with the probability of the site's failure model. */
bool site_fails(struct site *site, enum pleat_failure_kind kind);
int64_t site_exponential(struct pleat_random *random, double mean_us);
/* Processors of nodes that are up. */
int32_t site_up(const struct site *site);
/* Sums capacity and background load up to now: called before every change of what is up or in local
 * use, ... */
void site_count(struct sim *sim, struct site *site);
/* ... and after it. Where the site is polled the core hears of it at the next look. */
int site_tell_background(struct sim *sim, uint32_t index);
/* Looks now. */
int site_poll(struct sim *sim, uint32_t index);
/* Adds capacity and background load up to the last end of a job to the totals. */
void sites_count(struct sim *sim);

/* ---- site.c ---- */

int sites_create(struct sim *sim);
int sites_begin(struct sim *sim);
void sites_destroy(struct sim *sim);
int site_claim(struct sim *sim, uint32_t claim, uint64_t id, uint32_t site);
int site_release(struct sim *sim, uint32_t claim, uint64_t id, uint32_t site);
int site_timer(struct sim *sim, enum timer_kind kind, uint32_t index, uint32_t extra);

/* ---- claims.c ---- */
int site_claim_timer(struct sim *sim, enum timer_kind kind, uint32_t claim, uint64_t id,
                     int64_t delay);
/* The claim has been given, or is refused. */
int site_claimed(struct sim *sim, uint32_t claim, uint64_t id);
/* The same; `count` of its processors have been given, 0: none. */
int site_claimed_some(struct sim *sim, uint32_t claim, uint64_t id, int32_t count);
int site_released(struct sim *sim, uint32_t claim, uint64_t id);
/* The site takes a claim away. */
int site_lose(struct sim *sim, uint32_t claim);
/* Has a claim slots? One that waits in the queue of a batch system has none. */
bool site_claim_has_slots(const struct sim *sim, uint32_t claim);

/* ---- allocations.c: of batch systems ---- */
/* What is known of a claim at its site: a record that is made at first. NULL: no memory. */
struct claim_timer *allocation_record(struct sim *sim, uint32_t claim);
/* The allocation of which a claim has a part; NULL: there is none. */
struct allocation *allocation_of(struct sim *sim, uint32_t site, uint32_t claim);
/* A free record. NULL: no memory. */
struct allocation *allocation_new(struct sim *sim, uint32_t site, uint32_t *index);
/* Takes an allocation, in whatever state, out of the batch system's queue. */
void allocation_leave_queue(struct site *site, uint32_t allocation);
/* A claim that still waits is given up. */
void allocation_withdraw(struct sim *sim, uint32_t site, uint32_t claim);
/* A claim gives its part of an allocation back. */
void allocation_give_back(struct sim *sim, uint32_t site, uint32_t claim, int32_t count);
/* What has become of the nodes of allocations that have ended; all of their claims are over. */
int allocation_left(struct sim *sim, uint32_t site);
/* The node whose host is asked for a growth of a run that stays where it is, and *count: for how
 * many processors. PLEAT_NONE: no host has any. 0 or PLEAT_E_NOMEM. */
int allocation_host(struct sim *sim, const struct pleat_claim *wanted, uint32_t *node,
                    int32_t *count);
/* How many processors a claim gets that is about to be given. */
int32_t allocation_count(struct sim *sim, uint32_t claim);
/* Has a claim processors of an allocation? */
bool allocation_holds(const struct sim *sim, uint32_t claim);
/* An allocation of the same job with processors to spare for a claim; PLEAT_NONE. *count: how many
 * it can have there, fewer than are wanted only of a run that keeps to its nodes; 0: that can have
 * none anywhere. 0 or PLEAT_E_NOMEM. */
int allocation_beside(struct sim *sim, uint32_t site, const struct pleat_claim *wanted,
                      uint32_t *allocation, int32_t *count);
/* The last processors of a claim are those of another one from now on. */
int allocation_split(struct sim *sim, uint64_t from, uint32_t into, uint64_t into_id,
                     uint32_t site);
/* Tells the core on which nodes the `count` processors of a claim are that are about to be given,
 * where it has to know. An allocation has as few nodes as can be: all slots of each but the last
 * one. */
int allocation_tell(struct sim *sim, uint32_t site, uint32_t claim, int32_t count);
/* Tells the core when a claim that has been given ends. */
int allocation_ends(struct sim *sim, uint32_t site, uint32_t claim, uint64_t id);

/* ---- batch.c: sites with a batch system ---- */
int batch_begin(struct sim *sim, uint32_t site);
/* The site leaves. */
void batch_end(struct sim *sim, uint32_t site);
void batch_destroy(struct batch *batch);
int batch_claim(struct sim *sim, uint32_t site, uint32_t claim, uint64_t id);
int batch_timer(struct sim *sim, uint32_t site);
/* Another user's job of the model comes. */
int batch_comes(struct sim *sim, uint32_t site, int32_t processors, int64_t run_us);
/* Has anything changed at a batch system, so that jobs may start there? */
bool batch_is_asked(const struct sim *sim);
/* Starts all jobs that may start. */
int batch_serve(struct sim *sim, uint32_t site);
/* Other users' jobs that have a slot from `first` to before `end` are ended; their slots are behind
 * those of Pleat's claims. */
void batch_strike(struct sim *sim, uint32_t site, int64_t first, int64_t end);

/* ---- load.c: local users ---- */
int load_begin(struct sim *sim, uint32_t index);
void load_end(struct site *site);
/* Local users take what is free, before the policies see it. */
PLEAT_COLD int load_serve(struct sim *sim);
int load_trace_point(struct sim *sim, uint32_t index);
PLEAT_COLD int load_comes(struct sim *sim, uint32_t index);
PLEAT_COLD int load_goes(struct sim *sim, uint32_t index, int32_t size);
/* Local users lose their slots from `first` to before `end`. Their slots are behind the `held`
 * slots of Pleat's claims. */
void load_strike(struct site *site, int64_t held, int64_t first, int64_t end);

#endif

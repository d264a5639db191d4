/* workload.h - jobs as workloads describe them and the simulator runs them.
 *
 * A workload is an array of jobs, sorted by submission, that name applications of a small table:
 * how run time depends on size, when a size can change and what that costs. src/workload makes
 * workloads (from recorded logs, from models); src/sim runs them. Times are microseconds from the
 * workload's own beginning.
 */
#ifndef PLEAT_MODEL_WORKLOAD_H
#define PLEAT_MODEL_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "model/sizes.h"
#include "model/types.h"

enum pleat_speedup_kind {
    PLEAT_SPEEDUP_LINEAR, /* n processors are n times as fast */
    PLEAT_SPEEDUP_AMDAHL, /* all but a serial fraction gets faster (Amdahl's law) */
    PLEAT_SPEEDUP_DOWNEY, /* average parallelism A, variance sigma (Downey 1997, 2.2 and 2.3) */
    PLEAT_SPEEDUP_TABLE,  /* measured run times: between two sizes linear in 1/processors (as the
                           * sum of a serial and a parallel part is), constant above the largest
                           * size, in inverse proportion below the smallest */
    PLEAT_SPEEDUP_KIND_COUNT
};

struct pleat_speedup {
    enum pleat_speedup_kind kind;
    double serial;             /* AMDAHL: 0 to 1 */
    double parallelism, sigma; /* DOWNEY: A >= 1, sigma >= 0 */
    uint32_t first, count;     /* TABLE: rows in the workload's table */
};

/* What a change of size costs: the application stands still for
 *   fixed + volume moved / bandwidth (a share |1/from - 1/to| x min(from, to) of the data moves),
 * or what was measured for that pair of sizes, where the table has it. */
struct pleat_resize_cost {
    int64_t fixed_us;
    double bytes;          /* of the application's data; 0: none moves */
    double bandwidth;      /* bytes a second, all links together */
    uint32_t first, count; /* measured: rows in the workload's table of costs; count 0: none */
};

/* Of an application that asks for processes: what differs in speed. In all cases but the first its
 * processes differ, and an iteration takes as long as the slowest of them. */
enum pleat_varies {
    PLEAT_VARIES_RUN,       /* runs: all processes of a run are alike */
    PLEAT_VARIES_PROCESS,   /* processes, each for its whole run */
    PLEAT_VARIES_ITERATION, /* each process in each iteration */
    PLEAT_VARIES_OBJECT     /* each object in each iteration */
};
/* "run", "process", "iteration", "object". */
const char *pleat_varies_name(enum pleat_varies varies);

/* An application: shared by any number of jobs. */
struct pleat_app {
    char name[32]; /* may be empty; no spaces, semicolons or control characters */
    struct pleat_speedup speedup;
    struct pleat_resize_cost cost;
    int64_t adapt_us;   /* time between adaptation points; 0: see iterations */
    int32_t iterations; /* the equal parts of its work, with an adaptation point after each; 0 (and
                         * adapt_us 0): any moment is one */
    /* folded: several processes on one processor */
    double
        mpl_overhead; /* at MPL m its processors compute with efficiency 1 / (1 + overhead (m-1)) */
    double imbalance; /* imbalance of its processes, (busiest - mean) / mean; folding evens it
                       * out */
    bool local_queues; /* folded processes stay on their processor: the fullest one decides */
    /* evolving: its limits change as its work goes on (rows of the workload's table of phases) */
    uint32_t first_phase, phase_count;
    /* it asks for processors, or gives some back, at points of its work (rows of the workload's
     * table of asks); only malleable jobs that do not fold can */
    uint32_t first_ask, ask_count;
    /* `sections` times in its work, evenly spread, it is in a section in which its size may not
     * change. Each section is `section_share` of its work. Only malleable jobs that do not fold
     * have them */
    int32_t sections;     /* 0: none */
    double section_share; /* above 0; sections x section_share < 1 */
    /* component-and-work (Lammers 2005, 5.4): components of `component` processors each that run
     * for the job's run_us again and again, until `work` of them are done; shrinking loses what the
     * removed ones did */
    int32_t component, work; /* 0: not such an application */
    bool gives_back;         /* ... and a component that is done gives its processors back; the next
                              * one must be got by growing, while there is work left */
    /* rows of the workload's table of inputs; what a job reads must be brought to its site */
    uint32_t first_input, input_count;
    /* asking for processes (Liu et al. 2009, 4.2): each of the job's `processors` has a process
     * with `objects` objects at first. After every `gain_every` of its `iterations` one of them
     * gains `gain` objects; another process takes those as soon as there is one, and the
     * application asks for it at the end of each iteration that was slower for want of it. An
     * iteration takes as long as its fullest process does */
    int32_t objects, gain, gain_every; /* objects 0: not such an application */
    double speed_spread; /* the time that an object takes differs: its standard deviation, as a
                          * share of the mean */
    uint8_t varies;      /* enum pleat_varies: from what to what it differs */
    int32_t notices;     /* it notices that it has become slower after a random number of iterations
                          * from 1 to this; 0: after the first */
    bool balances;       /* the gain is divided over all processes, as if objects could be cut */
    /* after every `loses_every` iterations it has lost one of its gains, and vacates the process
     * for that, if it has it; so many iterations before it says that it will. 0: never; not */
    int32_t loses_every, announces;
};

struct pleat_input_file { /* a file at a site */
    double bytes;
    uint32_t file; /* the same at several sites: any of them will do */
    uint32_t site;
};

struct pleat_table_row { /* of a speedup table, by size */
    int32_t processors;
    int64_t run_us;
};

struct pleat_cost_row { /* of measured resize costs */
    int32_t from, to;
    int64_t us;
};

struct pleat_phase {
    double at;                /* share of its work done, increasing */
    int32_t minimum, maximum; /* its limits from then on */
};

struct pleat_workload_ask {
    double at;      /* share of its work done, increasing */
    int32_t change; /* processors: above 0 it asks for more, below 0 it gives some back */
    uint32_t must;  /* it cannot go on without them, and stands still until it has the answer */
};

enum { PLEAT_SECTIONS_MAX = 1000000 }; /* of an application */

struct pleat_workload_job {
    int64_t number; /* in the log that it came from */
    int64_t submit_us;
    int64_t run_us;      /* on `processors` processors of speed 1 */
    int64_t estimate_us; /* its user's; 0: none */
    int64_t deadline_us; /* to be done by then (of the workload); 0: none */
    int64_t preceding;   /* the number of a job after whose end it is submitted; 0: none */
    int64_t think_us;    /* from that end to its submission */
    int64_t begin_us;    /* advance reservation: starts then (of the workload); 0: none */
    int32_t processors;  /* the size for which run_us and estimate_us hold */
    int32_t minimum, maximum;
    int32_t sizes_parameter; /* of MULTIPLES */
    uint32_t site;           /* where it must run; PLEAT_NONE: anywhere */
    int32_t user;            /* as the log numbers them; -1: unknown */
    /* all 0 in most jobs of recorded logs; they stand together so that one comparison tells */
    int32_t initial;     /* 0: as many processors as are available */
    int32_t processes;   /* above 0: it is folded, with this number of processes, whatever its
                          * processors; 0: one on each processor */
    uint32_t app;        /* index into apps */
    uint8_t kind;        /* enum pleat_job_kind */
    uint8_t sizes_kind;  /* enum pleat_sizes_kind. LIST: exactly the sizes of its application's
                          * speedup table, of at most PLEAT_SIZES_LIST_MAX rows */
    uint8_t mpl_max;     /* > 0: it folds, and this is the most processes on a processor: malleable;
                          * processors, minimum, maximum, initial and sizes are about processes, which
                          * are chosen at its start, and run_us is on one processor for each */
    uint8_t part;        /* PLEAT_PART_* */
    int16_t priority;    /* higher goes first; 0: ordinary */
    uint8_t job_class;   /* enum pleat_job_class */
    uint8_t reserved[5]; /* no padding: workloads are compared byte by byte */
};

/* A job of several components is as many rows, one behind the other, all submitted at the same
 * time. */
enum {
    PLEAT_PART_FOLLOWS = 1, /* the next row is another component of its job */
    PLEAT_PART_FLEXIBLE = 2 /* of the first: its processors are those of the whole job, which may be
                             * split over as many components as there are; of the others only
                             * submission, run time and estimate count */
};

PLEAT_ARRAY(pleat_workload_jobs, struct pleat_workload_job);
PLEAT_ARRAY(pleat_apps, struct pleat_app);
PLEAT_ARRAY(pleat_table_rows, struct pleat_table_row);
PLEAT_ARRAY(pleat_cost_rows, struct pleat_cost_row);
PLEAT_ARRAY(pleat_phases, struct pleat_phase);
PLEAT_ARRAY(pleat_workload_asks, struct pleat_workload_ask);
PLEAT_ARRAY(pleat_input_files, struct pleat_input_file);

struct pleat_workload {
    struct pleat_workload_jobs jobs; /* sorted by submit_us; equal ones in the log's order */
    struct pleat_apps apps;          /* app 0: rigid, linear: that of recorded jobs of which nothing
                                      * else is known */
    struct pleat_table_rows table;
    struct pleat_cost_rows costs;
    struct pleat_phases phases;
    struct pleat_workload_asks asks;
    struct pleat_input_files inputs;
    int32_t machine;   /* processors of the machine on which it was recorded or for which it was
                        * made; 0: unknown */
    int64_t origin_us; /* time 0 of the workload, since 1970; 0: unknown */
};

/* No time of a workload is above this (3,170 years), so that sums of a few never overflow. */
#define PLEAT_WORKLOAD_TIME_MAX INT64_C(100000000000000000)

void pleat_workload_finish(struct pleat_workload *workload);

/* Appends app 0 of an empty (zeroed) workload. 0 or PLEAT_E_NOMEM. */
int pleat_workload_init(struct pleat_workload *workload) PLEAT_MUST_CHECK;

/* How many rows of a speedup table are for at most n processors. */
uint32_t pleat_table_rank(const struct pleat_table_row *rows, uint32_t count, double n);

/* Can every job be run: is the workload sorted, are limits in order, are apps and tables there, do
 * numbers make sense? PLEAT_E_INVALID: err names the job by its number (or the application by its
 * index), and the field. All run times together must stay below 70,000 years, so that no schedule's
 * clock overflows. */
int pleat_workload_check(const struct pleat_workload *workload,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same for one application, and for one job without its place in the order; err names only the
 * field. The job's application must have passed. */
int pleat_workload_check_app(const struct pleat_workload *workload, const struct pleat_app *app,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_workload_check_job(const struct pleat_workload *workload,
                             const struct pleat_workload_job *job,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

/* Can the sizes of the application's speedup table be a list of accepted ones? PLEAT_E_INVALID: it
 * has no table, or one with too many rows. The application must have passed. */
int pleat_workload_check_list(const struct pleat_app *app,
                              struct pleat_error *err) PLEAT_MUST_CHECK;

/* Microseconds that a job takes from start to end on `partition` processors (>= 1) of speed 1 with
 * `processes` processes (ignored unless the job is folded), never resized. Exactly run_us at its
 * own size.
 *
 * Unfolded: run_us f(processors) / f(partition), f being the speedup.
 * Folding jobs: with `processes` processes, or where that is 0 one on each processor; as below,
 * with f for their number. Folded: P processes (`processes`, or the job's own where that is 0) run
 * on min(partition, P) processors p. Assumed, as Utrera 2010 has measurements only: alone on P
 * processors they take T(P), which the busiest one decides; on p they take T(P) x spread x (1 +
 * mpl_overhead (m - 1)), m being ceil(P / p) and spread max(1, P / (p (1 + imbalance)))        with
 * one queue: sharing evens the imbalance out, but no process runs on two processors at a time; (m +
 * imbalance) / (1 + imbalance)      with local queues: the fullest processor, which has m processes
 * and the busiest among them, decides. Both are 1 at p = P. Component-and-work: run_us x ceil(work
 * / floor(partition / component)), as run_us is that of a component; INFINITY where no component
 * fits. Asking for processes: run_us is the time where each request is satisfied before it is
 * made; on a partition that stays, gains for which there is no process make it longer. */
double pleat_workload_run_time(const struct pleat_workload *workload,
                               const struct pleat_workload_job *job, int32_t partition,
                               int32_t processes);

/* Where the section of that number (from 0) begins, or ends: a share of the work. Sections are in
 * the middle of equal parts of it. */
double pleat_workload_section(const struct pleat_app *app, uint32_t number, bool end);

/* Microseconds that a job stands still to change its size (struct pleat_resize_cost). */
int64_t pleat_workload_resize_time(const struct pleat_workload *workload,
                                   const struct pleat_app *app, int32_t from, int32_t to);

#endif

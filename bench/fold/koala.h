/* koala.h - the experiments of Buisson et al. 2007, VI and VII, scaled: two malleable programs
 * arrive at a pleatd that has more processors than the machine (ranks sleep where they would
 * compute), and the same simulated from what the programs were measured to take. */
#ifndef PLEAT_BENCH_FOLD_KOALA_H
#define PLEAT_BENCH_FOLD_KOALA_H

#include "eval.h"
#include "live.h"

enum { KOALA_PROCESSORS = 16, KOALA_JOBS = 12, KOALA_SIZES = 5, KOALA_LEAST = 2 };
enum { KOALA_SCALE = 80 }; /* the paper's times, divided by the times here */

enum koala_app { KOALA_FT, KOALA_GADGET, KOALA_APPS };

struct koala_program {
    const char *name, *program, *stands_for, *sizes_name;
    bool powers; /* takes powers of two */
    int n, iterations;
    /* what an iteration pretends to compute: by each rank, and shared by the ranks */
    int pause_ms, work_ms;
    int sizes[KOALA_SIZES]; /* at which it is measured, from the least to its largest */
    double two_s, best_s;   /* of the paper's figure 6 */
};
extern const struct koala_program koala_programs[KOALA_APPS];
int koala_largest(enum koala_app app);

/* Figure 7: no job is shrunk, jobs come slowly. Figure 8: running ones are shrunk for waiting ones,
 * and jobs come four times as fast. */
enum { KOALA_PRA, KOALA_PWA, KOALA_APPROACHES };
enum { KOALA_EGS_WM, KOALA_EGS_WMR, KOALA_FPSMA_WM, KOALA_FPSMA_WMR, KOALA_RUNS };
const char *koala_run_name(int approach, int run);
double koala_gap_s(int approach, double times);
bool koala_is_mixed(int run);

/* ---- what the programs take ---- */

struct koala_feed {
    double seconds[KOALA_APPS][KOALA_SIZES]; /* of a job of that size, from its start to its end */
    double start_s;              /* from a job's submission to its start, if nobody is there */
    struct live_changes changes; /* what they let a program stand still */
};
void koala_measure(struct koala_feed *feed, double times, int repeats, struct bench_series *others);
/* On any number of processors: linear in 1 / processors between measured sizes. */
double koala_time_s(const struct koala_feed *feed, enum koala_app app, int processors);

/* ---- a draw ---- */

struct koala_job {
    enum koala_app app;
    bool is_rigid; /* in workloads that have such ones */
};
/* Half of the jobs are of each program, half of these rigid; their order is drawn. */
void koala_draw(struct koala_job jobs[KOALA_JOBS], uint64_t seed);

/* As pleat_trial_policies takes them. */
const char *koala_policies(int approach, int run);
double koala_run(int approach, int run, const struct koala_job jobs[KOALA_JOBS], double times,
                 struct live_outcome outcomes[KOALA_JOBS]);
/* stretch: of each job's run times, at every size. */
void koala_simulate(int approach, int run, const struct koala_job jobs[KOALA_JOBS], double times,
                    const struct koala_feed *feed, struct live_changes changes,
                    const double stretch[KOALA_JOBS], struct live_outcome outcomes[KOALA_JOBS]);
/* How many times as long as alone, at the sizes that they had and without changes, jobs took: each
 * of them, and those of each application on average. */
struct koala_stretch {
    double job[KOALA_JOBS], app[KOALA_APPS];
};
void koala_measure_stretch(const struct koala_job jobs[KOALA_JOBS], const struct koala_feed *feed,
                           const struct live_outcome outcomes[KOALA_JOBS],
                           struct koala_stretch *stretch);

/* ---- results ---- */

enum {
    KOALA_AVERAGE, /* size of malleable jobs */
    KOALA_MAXIMUM,
    KOALA_AT_LEAST, /* share of the malleable jobs that never grow */
    KOALA_EXECUTION,
    KOALA_EXECUTION_FT,
    KOALA_EXECUTION_GADGET,
    KOALA_RESPONSE,
    KOALA_WAIT,
    KOALA_BELOW, /* share of jobs that take less than the paper's 200 s, scaled */
    KOALA_ABOVE, /* more than 400 s */
    KOALA_UTILIZATION,
    KOALA_GROWS,
    KOALA_SHRINKS,
    KOALA_METRICS
};
extern const char *const koala_metric_names[KOALA_METRICS];

/* LIVE; simulated from what was measured at the head; with changes of size that take as long as in
 * this run; with that and with jobs that take as long as those of their application did on average;
 * with jobs of which each takes as long as it did itself. */
enum { KOALA_LIVE, KOALA_FED, KOALA_CHANGES, KOALA_STRETCHED, KOALA_EACH, KOALA_SOURCES };
enum { KOALA_SHAKES = 20 };
#define KOALA_SHAKE 0.05 /* part of a program's times, and of what changes take */
enum { KOALA_KEPT = 2, KOALA_ROUNDS_MAX = 50 }; /* sources whose outcomes are drawn */

struct koala_cell {
    struct bench_series of[KOALA_SOURCES][KOALA_METRICS]; /* a value for each round */
    /* of KOALA_SHAKES simulations as EACH, with times that are a little off */
    struct bench_series least[KOALA_METRICS], most[KOALA_METRICS];
    struct bench_series grow_s, more_s, shrink_s, free_s, before_s, stretch[KOALA_APPS];
    struct bench_series busy;                  /* processors of the machine, by whatever ran */
    struct live_outcome *outcomes[KOALA_KEPT]; /* KOALA_JOBS of each round, one after another */
    int rounds;
};

struct koala_results {
    struct koala_feed feed;
    bool wanted[KOALA_APPROACHES][KOALA_RUNS];
    struct koala_cell cells[KOALA_APPROACHES][KOALA_RUNS];
    /* of each round, as in the outcomes */
    struct koala_job jobs[KOALA_APPROACHES][KOALA_ROUNDS_MAX][KOALA_JOBS];
    double times;
};
void koala_measure_run(int run, const struct koala_job jobs[KOALA_JOBS], double times,
                       const struct live_outcome outcomes[KOALA_JOBS],
                       double metrics[KOALA_METRICS]);

/* ---- the page ---- */

void koala_write_feed(struct pleat_page *page, const struct koala_results *results);
void koala_write_tables(struct pleat_page *page, const struct koala_results *results, int approach);
/* The six panels of figure 7 or 8, live and simulated side by side. */
int koala_figure(struct pleat_page *page, const struct koala_results *results, int approach,
                 struct pleat_error *err);
void koala_tell(struct eval *eval, const struct koala_results *results);

#endif

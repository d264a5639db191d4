/* live.h - a workload that really runs: a pleatd of its own to which `pleat mix` gives jobs as they
 * arrive, and what became of each; and the same of a simulation, so that both are measured alike.
 */
#ifndef PLEAT_BENCH_FOLD_LIVE_H
#define PLEAT_BENCH_FOLD_LIVE_H

#include "experiment/trial.h"
#include "report.h"
#include "trial.h"

#define LIVE_JOBS_MAX 64
#define LIVE_PIECES_MAX 64
#define LIVE_LINE 512

struct live_job {
    char name[32];
    double at_s;          /* arrives, after the mix begins */
    char line[LIVE_LINE]; /* options of `pleat submit`, "--", the program and its arguments */
};

struct live_mix {
    const char *name; /* for messages */
    enum trial_mpi mpi;
    const char *policies; /* "approach=launcher queue=fcfs": as pleat_trial_policies takes them */
    const char *config;   /* lines of pleat.conf: the site, and what else is to be set */
    const char *cpus;
    /* the programs are those of apps/plain, and say how many processes they had (--times) */
    bool counted;
    int count;
    struct live_job *jobs; /* in the order of their arrival */
};

struct live_piece { /* how many processors it had, and from when on */
    double at_s;
    int processors;
};

/* Growths, each by some processors more than one: sums over them. */
struct live_growths {
    double count, more, more_squared;
    double took_s, more_took; /* seconds; the product of both */
};

/* What became of a job. Times are seconds since the first submission of the mix. */
struct live_outcome {
    double submit_s, start_s, end_s; /* the start: that of the last run */
    int starts;
    int processes; /* of its last run; 0: not known */
    int grown, shrunk;
    double resize_s; /* that its resizes took, together */
    struct live_growths growths;
    double shrink_s; /* of that its shrinks */
    double before_s; /* live: while ranks of its growths started and it went on, together */
    double free_s;   /* live: after its shrinks, until the processors were free, together */
    int piece_count;
    struct live_piece pieces[LIVE_PIECES_MAX]; /* in the order of time, up to its end */
};

/* Runs a mix; outcomes has an entry for each job. Returns how many processors others used. A job
 * that fails or computes a wrong result, and a mix that takes too long, end the benchmark. It is
 * run again where the machine stood still (steady.h). */
double live_run(const struct live_mix *mix, struct live_outcome *outcomes);

/* The outcomes of a simulation that kept its changes. A job that did not end ends the benchmark. */
void live_of_trial(const struct pleat_trial *trial, const char *name,
                   struct live_outcome *outcomes);

/* ---- of a job ---- */

double live_response_s(const struct live_outcome *outcome);
double live_wait_s(const struct live_outcome *outcome);
double live_run_s(const struct live_outcome *outcome);
/* The processor-seconds that it had in all its runs; in its last run. */
double live_processor_s(const struct live_outcome *outcome);
double live_average(const struct live_outcome *outcome);
int live_largest(const struct live_outcome *outcome);

/* ---- of all ---- */

/* How long shrinks let a program stand still on average; and growths, by the straight line that is
 * nearest to them (least squares). Where there were none of a kind: `otherwise`. Of a simulation's
 * outcomes free_s and before_s are not known, and 0. */
struct live_changes {
    double grow_s; /* by one processor */
    double shrink_s;
    double free_s;   /* from when a program that was shrunk goes on until the processors are free */
    double more_s;   /* a growth, for each processor after the first one */
    double before_s; /* of a growth, while new ranks start and the program goes on */
};
struct live_changes live_changes(const struct live_outcome *outcomes, int count,
                                 struct live_changes otherwise);

/* Whether in more than half of the rounds a value is between two others, or at most `alike` of them
 * outside: of simulations whose times are a little off, what their values were at least and most.
 */
bool live_is_between(const struct bench_series *live, const struct bench_series *least,
                     const struct bench_series *most, double alike);

/* An application whose changes of size, up to `most` processors, let it stand still as long in a
 * simulation: to be called before it is put into the workload. PLEAT_E_NOMEM. */
int live_add_changes(struct pleat_workload *workload, struct pleat_app *app,
                     struct live_changes changes, int most);
/* A site where it takes as long until ranks of a growth have started, and until processors are
 * free. */
void live_delay_changes(struct pleat_sim_site *site, struct live_changes changes);

/* From the first submission to the last end. */
double live_makespan_s(const struct live_outcome *outcomes, int count);
/* The share of the time of `processors` processors that jobs had, from the first submission to the
 * last end. */
double live_utilization(const struct live_outcome *outcomes, int count, int processors);

#endif

/* resizable.h - the experiments of Swaminathan 2004, chapter 4: applications, job mixes, runs. */
#ifndef PLEAT_EXPERIMENTS_RESIZABLE_H
#define PLEAT_EXPERIMENTS_RESIZABLE_H

#include "experiment/experiment.h"

/* The sizes that the applications take. */
enum { SIZES = 8 };
extern const int32_t resizable_sizes[SIZES];

/* By how many percent an iteration gets shorter from each size to the next: tables 1 and 2. For the
 * factorization nothing is known beyond 20 processors: it is taken to be no better there. */
extern const double resizable_product[SIZES - 1], resizable_factors[SIZES - 1];

/* What an iteration takes at each size, if it takes `on_2_s` on 2 processors. */
void resizable_times(double on_2_s, const double *percent, double *times_s);

struct resizable_job {
    double times_s[SIZES];
    int32_t iterations, initial;
    bool rigid;
    /* redistribution_s: how long the job stands still for a change of its size */
    double submit_s, redistribution_s;
};

/* A run with the remap scheduler (approach "remap", or "remap-idle"); with rigid jobs, first come,
 * first served. Its changes of size are kept. To be finished in any case. */
struct resizable_trial {
    struct pleat_workload workload;
    struct pleat_trial trial;
};
int resizable_run(const struct pleat_study *study, const struct resizable_job *jobs, size_t count,
                  int32_t processors, const char *approach, struct resizable_trial *trial,
                  struct pleat_error *err) PLEAT_MUST_CHECK;
void resizable_finish(struct resizable_trial *trial);

/* Processors of a job just after a time; 0: it does not run. */
int32_t resizable_size_at(const struct resizable_trial *trial, size_t job, double time_s);
/* The fewest processors that a job had from a time to another one, both included. */
int32_t resizable_least(const struct resizable_trial *trial, size_t job, double from_s,
                        double to_s);
/* All sizes that a job had from a time on, in their order; returns how many, at most `room`. */
size_t resizable_sizes_of(const struct resizable_trial *trial, size_t job, double from_s,
                          int32_t *sizes, size_t room);
/* All sizes of a job as text, "4, 6, 9"; to be finished. */
struct pleat_string resizable_sizes_text(const struct resizable_trial *trial, size_t job);

/* The sizes of jobs over time: a series of a panel for each job. Finish it after it was drawn. */
enum { DRAWN_JOBS = 8 };
struct resizable_lines {
    double *x[DRAWN_JOBS], *y[DRAWN_JOBS];
    struct pleat_plot_series series[DRAWN_JOBS];
};
int resizable_lines(const struct resizable_trial *trial,
                    struct resizable_lines *lines) PLEAT_MUST_CHECK;
void resizable_lines_finish(struct resizable_lines *lines);

/* ---- the parts of the page ---- */
int resizable_spots(struct pleat_study *study, struct pleat_error *err) PLEAT_MUST_CHECK;
int resizable_mix_1(struct pleat_study *study, struct pleat_error *err) PLEAT_MUST_CHECK;
int resizable_mix_2(struct pleat_study *study, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

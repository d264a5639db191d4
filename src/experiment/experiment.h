/* experiment.h - published experiments, done again: what is run, what it shows, the page about it.
 *
 * An experiment is one `const struct pleat_experiment` in experiments/NAME/, named in
 * experiments/list.c. Its run function gets a study: how many seeds, and where to put the results.
 * It runs its simulations with pleat_study_sweep (every setting with every seed, in threads), and
 * writes the page with pleat_page_... With pleat_study_shape it says which statements of the paper
 * it finds and which not. The page, JSON and exit status of `pleat experiment` come from that.
 *
 * Results depend on the seeds alone: not on the number of threads, nor on the time. So no times of
 * this machine belong on a page. */
#ifndef PLEAT_EXPERIMENT_EXPERIMENT_H
#define PLEAT_EXPERIMENT_EXPERIMENT_H

#include <stdatomic.h>

#include "experiment/estimate.h"
#include "experiment/page.h"
#include "experiment/trial.h"

struct pleat_study;

struct pleat_experiment {
    const char *name;    /* a folder of experiments/ */
    const char *title;   /* of the page */
    const char *source;  /* "Buisson et al. 2007, V to VII" */
    const char *summary; /* one sentence: what is run */
    size_t seeds;        /* by default */
    /* what a reader may not conclude from it, beyond what holds for all; sentences, NULL behind the
     * last */
    const char *const *cautions;
    bool logs; /* it runs the recorded logs that its caller gives, and some that it makes */
    int (*run)(struct pleat_study *study, struct pleat_error *err);
};

/* What a shape that holds is worth. */
enum pleat_label {
    PLEAT_NOT_FOUND,
    /* a value that the paper leaves open, or the setting in which the shape is looked for, was
     * chosen so that it holds: it shows that the paper can be right, not that it is */
    PLEAT_FITTED,
    /* nothing was chosen so that it holds, and its criterion was set before the runs, as far as
     * that is known: it was not recorded which criteria came after first, exploratory runs */
    PLEAT_CLAIMED
};

/* Something that the paper states or shows. */
struct pleat_shape {
    const char *statement;
    const char *where; /* in the paper: "VII-A, figure 7c" */
    /* the label that the experiment expects; the exit status says whether it comes out. One that is
     * not expected to be found is reported, whatever comes out */
    enum pleat_label expected;
    bool holds;
};

struct pleat_shape_found { /* a shape as pleat_study_shape was told */
    char *statement, *where, *measured;
    enum pleat_label expected;
    bool holds;
};

PLEAT_ARRAY(pleat_shapes, struct pleat_shape_found);

struct pleat_figure_value { /* a number of the page, for programs */
    char *name;
    struct pleat_estimate estimate;
};

PLEAT_ARRAY(pleat_figure_values, struct pleat_figure_value);

struct pleat_study {
    const struct pleat_experiment *experiment;
    size_t seeds; /* how many; they are seed, seed + 1, ... */
    uint64_t seed;
    size_t threads; /* 0: one for each processor */
    /* only to see that the experiment works: few settings are enough; nothing is checked */
    bool quick;
    const char *const *logs; /* files in the Standard Workload Format */
    size_t log_count;
    /* optional: called some times a second while simulations run, in the caller's thread */
    void (*progress)(void *context, const char *what, size_t done, size_t count);
    void *context;
    const atomic_int *interrupt; /* not 0: end early; NULL: nothing interrupts */

    /* filled by run */
    struct pleat_page page;
    struct pleat_shapes shapes;
    struct pleat_figure_values values;
    bool out_of_memory; /* results are missing: reported at the end of the run */
};

/* ---- for experiments ---- */

/* Runs a task for each index below count, in threads. `what` is named to the progress callback
 * ("sweep"). A task writes only where no other task does. Returns as pleat_pool_run. */
int pleat_study_each(struct pleat_study *study, const char *what, size_t count,
                     int (*task)(void *context, size_t index, struct pleat_error *err),
                     void *context, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Every setting with every seed. */
struct pleat_sweep {
    const char *what; /* for the progress */
    size_t settings, metrics;
    /* fewer than the study has, where there are many settings; 0: as many as the study */
    size_t seeds;
    /* One run, in any thread: fills metrics[], which are NAN at first. All settings get the same
     * seeds, so their differences can be taken by seed. */
    int (*run)(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
               double *metrics, struct pleat_error *err);
    void *context;
};
/* Runs a sweep, and fills *numbers, which has to be finished in any case. */
int pleat_study_sweep(struct pleat_study *study, const struct pleat_sweep *sweep,
                      struct pleat_numbers *numbers, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Shall a long run end early? */
bool pleat_study_stops(const struct pleat_study *study);

/* Reports whether a shape was found, and what was measured: "4.1 ± 0.2 above". Each shape is a row
 * of the page's first table. Texts are copied. */
void pleat_study_shape(struct pleat_study *study, const struct pleat_shape *shape,
                       const char *measured, ...) PLEAT_PRINTF(3, 4);
/* A number for --json: "execution_s.wm.egs". */
void pleat_study_value(struct pleat_study *study, const char *name, struct pleat_estimate estimate);

/* ---- for those who run experiments ---- */

/* Runs the experiment of a study whose first part was filled in; finish in any case.
 * PLEAT_E_CLOSED: interrupted. PLEAT_E_NOTFOUND: gnuplot is not installed (said before anything is
 * run). Blocks, for minutes. */
int pleat_study_run(struct pleat_study *study, struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_study_finish(struct pleat_study *study);
/* Do all shapes hold that are asserted? */
bool pleat_study_holds(const struct pleat_study *study);
/* The label of a shape as it came out. */
enum pleat_label pleat_study_label(const struct pleat_shape_found *shape);
/* "claimed", "fitted", "not found". */
const char *pleat_label_name(enum pleat_label label);
/* Does the exit status depend on the shape: is it expected to be found, and is this no quick run?
 */
bool pleat_study_asserts(const struct pleat_study *study, const struct pleat_shape_found *shape);
/* Writes page.md and the figures into directory/NAME/, which is made with its parents if it is not
 * there. Each file is replaced as a whole, the page last. *path gets the name of the page. */
int pleat_study_write(const struct pleat_study *study, const char *directory,
                      struct pleat_string *path, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

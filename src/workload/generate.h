/* generate.h - synthetic workloads: arrivals, sizes and run times from distributions and from
 * published models. The same parameters and seed give the same workload. */
#ifndef PLEAT_WORKLOAD_GENERATE_H
#define PLEAT_WORKLOAD_GENERATE_H

#include <stdbool.h>

#include "model/workload.h"

/* ---- one number from a distribution ---- */

enum pleat_distribution_kind {
    PLEAT_DIST_CONSTANT,    /* a */
    PLEAT_DIST_UNIFORM,     /* a to b */
    PLEAT_DIST_NORMAL,      /* mean a, standard deviation b; cut off at 0 */
    PLEAT_DIST_EXPONENTIAL, /* mean a: the gaps of a Poisson process */
    PLEAT_DIST_LOGNORMAL,   /* zeta a, sigma b of the logarithm */
    PLEAT_DIST_WEIBULL,     /* scale a, shape b */
    PLEAT_DIST_GAMMA,       /* shape a, scale b */
    PLEAT_DIST_DISCRETE,    /* values with weights */
    PLEAT_DIST_KIND_COUNT
};

enum { PLEAT_DIST_VALUES = 32 };

struct pleat_distribution {
    enum pleat_distribution_kind kind;
    double a, b;
    uint32_t count; /* DISCRETE */
    double values[PLEAT_DIST_VALUES], weights[PLEAT_DIST_VALUES];
    double least, most; /* draws are clipped; most 0: no limit above */
};

/* Reads "constant:30", "uniform:10,50", "normal:60,10", "poisson:30" (= "exponential:30": the gaps
 * of a Poisson process, not its counts), "lognormal:3,1", "weibull:100,0.7", "gamma:2,50",
 * "discrete:1=0.2,2=0.3,4=0.5"; each may end in "[LEAST..MOST]", and a number alone is a constant.
 * PLEAT_E_INVALID: err says what the kind needs, in the words of this list; *distribution is
 * unchanged. */
int pleat_distribution_parse(const char *text, struct pleat_distribution *distribution,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* The text that parse reads; numbers come back exactly. */
void pleat_distribution_format(const struct pleat_distribution *distribution,
                               struct pleat_string *out);
/* The mean without clipping and cutting off. */
double pleat_distribution_mean(const struct pleat_distribution *distribution);

/* A stream of numbers (GSL's Mersenne twister). NULL: out of memory. */
struct pleat_stream;
struct pleat_stream *pleat_stream_create(uint64_t seed);
void pleat_stream_destroy(struct pleat_stream *stream);
double pleat_distribution_draw(const struct pleat_distribution *distribution,
                               struct pleat_stream *stream);
/* A whole number: a uniform distribution gives each from a to b alike; others are rounded. Kept
 * within low and high. */
int64_t pleat_distribution_draw_whole(const struct pleat_distribution *distribution,
                                      struct pleat_stream *stream, int64_t low, int64_t high);

/* ---- workloads ----
 * Each fills an initialized, empty workload with rigid jobs (Utrera: as asked), numbered from 1.
 * The offered load is sum of size x run time / (machine x span), the span from the first
 * submission to the last. PLEAT_E_INVALID: err says which parameter, and what it may be,
 * or which job could not be run; PLEAT_E_TOOBIG: arrivals beyond what can be counted;
 * PLEAT_E_NOMEM. On failure the workload is unchanged. */

enum { PLEAT_GENERATE_JOBS_MAX = 100000000 };

/* Independent draws: of gaps, sizes, run times and estimates, each from a stream of its own, so
 * that another distribution of one leaves the others as they are. The first job comes after a gap.
 * Sizes are rounded and kept within 1 and machine. With load > 0 the gaps are scaled so that the
 * offered load is that. */
struct pleat_simple_model {
    size_t jobs;
    int32_t machine;
    double load;
    struct pleat_distribution gap, run, size; /* seconds, seconds, processors */
    double estimate; /* users' estimates are run time x uniform(1, this), so >= 1; 0: none */
    double tick;     /* seconds: times are rounded to multiples of it, run times to at least one;
                      * 1 for logs that other programs read; 0: a microsecond */
    bool powers;     /* sizes are rounded down to a power of two */
    uint64_t seed;
};
int pleat_generate_simple(const struct pleat_simple_model *model, struct pleat_workload *workload,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

/* Lublin and Feitelson 2003, "The workload on parallel supercomputers: modeling the characteristics
 * of rigid jobs": two-stage uniform sizes (of their logarithm) with serial jobs and powers of two,
 * hyper-gamma run times (of their logarithm) that depend on the size, gamma gaps with a daily cycle
 * of 48 half hours, from midnight. The published parameters of each class of jobs, with the sizes
 * scaled to `machine` as the authors say: largest log2(machine) (interactive: 1.5 less), the
 * break 2.5 below it. Times are whole seconds, run times at least one. */
enum pleat_lublin_class {
    PLEAT_LUBLIN_BATCH,
    PLEAT_LUBLIN_INTERACTIVE,
    PLEAT_LUBLIN_BOTH,     /* the two above, side by side; the user is 0 (interactive) or 1 */
    PLEAT_LUBLIN_TOGETHER, /* fitted to all jobs without telling them apart */
    PLEAT_LUBLIN_CLASS_COUNT
};

struct pleat_lublin_model {
    size_t jobs;
    int32_t machine; /* at least 2 */
    double load;     /* 0: as the model gives; else gaps are scaled, the daily cycle stays */
    enum pleat_lublin_class kind;
    double estimate; /* users' estimates are run time x uniform(1, this), so >= 1; 0: none */
    uint64_t seed;
};
/* "batch", "interactive", "both", "together". NULL: there is no such class. */
const char *pleat_lublin_class_name(enum pleat_lublin_class kind);
int pleat_generate_lublin(const struct pleat_lublin_model *model, struct pleat_workload *workload,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

/* Utrera 2010, 3.6: jobs of long and short applications with measured run times (table 3.2), that
 * arrive as Poisson processes whose rates give each application its share of a nominal load, which
 * counts the sequential time (equation 3.2). Names of the applications end in "-long" or "-short",
 * and their jobs have those classes.
 *
 * Mixes: w1 to w6 of table 5.3 (long and short share, percent of the machine: 40+10, 40+20, 40+30,
 * 10+40, 20+40, 30+40), bt.A and cg.B long, bt.W and sweep3D short; "high" and "low" of tables 6.1
 * to 6.3: 20 % short, the rest of the load long (high: the same applications; low: ep.C long, ep.B
 * and sweep3D short). Within long and short each application has an equal share. */
struct pleat_utrera_model {
    size_t jobs;       /* 0: as many as arrive within duration_s */
    double duration_s; /* of arrivals; 0: as long as jobs last. 600 to 1200 in the thesis */
    int32_t machine;   /* 60 in the thesis */
    double load;       /* nominal, 0 to 2; 0: the mix's own (high and low: 0.8) */
    const char *mix;   /* "w1" ... "w6", "high", "low" */
    /* RIGID: the largest size of the table that the machine holds; else from 1 to that, squares for
     * bt, powers of two for the others */
    enum pleat_job_kind kind;
    uint8_t mpl_max; /* > 0: malleable ones fold: those sizes are of processes, at most so many of
                      * them on a processor; 4 in the thesis */
    uint64_t seed;
};
int pleat_generate_utrera(const struct pleat_utrera_model *model, struct pleat_workload *workload,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

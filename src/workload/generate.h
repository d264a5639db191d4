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
    PLEAT_DIST_NORMAL,      /* mean a, standard deviation b; negative values become 0 */
    PLEAT_DIST_EXPONENTIAL, /* mean a: the gaps of a Poisson process */
    PLEAT_DIST_LOGNORMAL,   /* mean a and standard deviation b of the logarithm */
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
    double least, most; /* limits of the values drawn; most 0: no upper limit */
};

/* Reads "constant:30", "uniform:10,50", "normal:60,10", "poisson:30" (= "exponential:30": the gaps
 * of a Poisson process, not its counts), "lognormal:3,1", "weibull:100,0.7", "gamma:2,50",
 * "discrete:1=0.2,2=0.3,4=0.5"; each may end in "[LEAST..MOST]", and a number alone is a constant.
 * PLEAT_E_INVALID: err says what the kind needs, in the words of this list; then *distribution is
 * unchanged. */
int pleat_distribution_parse(const char *text, struct pleat_distribution *distribution,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

/* A stream of numbers (GSL's Mersenne twister). */
struct pleat_stream;
void pleat_stream_destroy(struct pleat_stream *stream);
double pleat_distribution_draw(const struct pleat_distribution *distribution,
                               struct pleat_stream *stream);
/* Draws a whole number, within low and high. A uniform distribution gives each number from a to b
 * with equal probability; values of others are rounded. */
int64_t pleat_distribution_draw_whole(const struct pleat_distribution *distribution,
                                      struct pleat_stream *stream, int64_t low, int64_t high);

/* ---- workloads ----
 * Each function fills an initialized, empty workload with rigid jobs (Utrera: of the kind asked
 * for), numbered from 1. The offered load is the sum of size x run time, divided by machine x span;
 * the span is from the first submission to the last. PLEAT_E_INVALID: err says which parameter is
 * wrong and what it may be, or which job could not be run. PLEAT_E_TOOBIG: arrivals are too late to
 * be counted. PLEAT_E_NOMEM. An error leaves the workload unchanged. */

enum { PLEAT_GENERATE_JOBS_MAX = 100000000 };

/* Gaps, sizes, run times and estimates are drawn independently, each from a stream of its own:
 * another distribution of one of them leaves the others as they are. The first job is submitted
 * after a gap. Sizes are rounded, and kept from 1 to machine. With load > 0 the gaps are scaled so
 * that the offered load becomes this load. */
struct pleat_simple_model {
    size_t jobs;
    int32_t machine;
    double load;
    struct pleat_distribution gap, run, size; /* seconds, seconds, processors */
    double estimate; /* estimates are run time x uniform(1, this), so at least 1; 0: none */
    /* in seconds: times are rounded to multiples of it, run times to at least one tick; 1 for logs
     * that other programs read; 0: a microsecond */
    double tick;
    bool powers; /* sizes are rounded down to a power of two */
    uint64_t seed;
};
int pleat_generate_simple(const struct pleat_simple_model *model, struct pleat_workload *workload,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

/* The model of Lublin and Feitelson 2003, "The workload on parallel supercomputers: modeling the
 * characteristics of rigid jobs". Sizes: a two-stage uniform distribution of their logarithm, with
 * serial jobs and powers of two. Run times: a hyper-gamma distribution of their logarithm, which
 * depends on the size. Gaps: a gamma distribution, with a daily cycle of 48 half hours from
 * midnight. The parameters are those published for each class of jobs. Sizes are scaled to
 * `machine` as the authors say: the logarithm of the largest is log2(machine) (interactive: 1.5
 * less), and the break is 2.5 below it. Times are whole seconds, run times at least one. */
enum pleat_lublin_class {
    PLEAT_LUBLIN_BATCH,
    PLEAT_LUBLIN_INTERACTIVE,
    /* the two classes above, side by side; user 0 is interactive, user 1 is batch */
    PLEAT_LUBLIN_BOTH,
    PLEAT_LUBLIN_TOGETHER, /* fitted to the jobs of both classes together */
    PLEAT_LUBLIN_CLASS_COUNT
};

struct pleat_lublin_model {
    size_t jobs;
    int32_t machine; /* at least 2 */
    double load; /* 0: as the model gives; otherwise gaps are scaled, and the daily cycle stays */
    enum pleat_lublin_class kind;
    double estimate; /* estimates are run time x uniform(1, this), so at least 1; 0: none */
    uint64_t seed;
};
/* The name of a class: "batch", "interactive", "both", "together". NULL: there is no such class. */
const char *pleat_lublin_class_name(enum pleat_lublin_class kind);
int pleat_generate_lublin(const struct pleat_lublin_model *model, struct pleat_workload *workload,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

/* The workloads of Utrera 2010, 3.6: jobs of long and short applications with measured run times
 * (table 3.2). Their arrivals are Poisson processes. The rates give each application its share of a
 * nominal load, which counts the sequential time (equation 3.2). Names of applications end in
 * "-long" or "-short", and their jobs have that class.
 *
 * Mixes w1 to w6 are those of table 5.3. Their shares of long and short jobs, in percent of the
 * machine, are 40+10, 40+20, 40+30, 10+40, 20+40, 30+40. Long applications are bt.A and cg.B, short
 * ones bt.W and sweep3D. Mixes "high" and "low" are those of tables 6.1 to 6.3: 20 % are short, the
 * rest of the load is long. "high" has the same applications; "low" has ep.C as long, ep.B and
 * sweep3D as short. All long applications have equal shares, and so have all short ones.
 */
struct pleat_utrera_model {
    size_t jobs;       /* 0: the jobs that arrive within duration_s */
    double duration_s; /* of arrivals; 0: until there are `jobs` jobs. 600 to 1200 in Utrera 2010 */
    int32_t machine;   /* 60 in Utrera 2010 */
    double load;       /* nominal, 0 to 2; 0: that of the mix (high and low: 0.8) */
    const char *mix;   /* "w1" ... "w6", "high", "low" */
    /* RIGID: jobs have the largest size in the table that the machine holds. Otherwise their sizes
     * are from 1 to that: squares for bt, powers of two for the others. */
    enum pleat_job_kind kind;
    /* > 0: malleable jobs fold: their sizes are numbers of processes, with at most this MPL; 4 in
     * Utrera 2010 */
    uint8_t mpl_max;
    uint64_t seed;
};
int pleat_generate_utrera(const struct pleat_utrera_model *model, struct pleat_workload *workload,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

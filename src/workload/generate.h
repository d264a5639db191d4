/* generate.h - synthetic workloads: arrivals, sizes and run times from distributions and from
 * published models. The same parameters and seed give the same workload. */
#ifndef PLEAT_WORKLOAD_GENERATE_H
#define PLEAT_WORKLOAD_GENERATE_H

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
    double least, most; /* draws are clipped; most 0: no limit */
};

/* Reads "constant:30", "uniform:10,50", "normal:60,10", "poisson:30" (= "exponential:30"),
 * "lognormal:3,1", "weibull:100,0.7", "gamma:2,50", "discrete:1=0.2,2=0.3,4=0.5"; each may end in
 * "[LEAST..MOST]". */
int pleat_distribution_parse(const char *text, struct pleat_distribution *distribution,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_distribution_format(const struct pleat_distribution *distribution,
                               struct pleat_string *out);
/* The mean without clipping; NAN where it has none. */
double pleat_distribution_mean(const struct pleat_distribution *distribution);

/* A stream of numbers (GSL's Mersenne twister). */
struct pleat_stream;
struct pleat_stream *pleat_stream_create(uint64_t seed);
void pleat_stream_destroy(struct pleat_stream *stream);
double pleat_distribution_draw(const struct pleat_distribution *distribution,
                               struct pleat_stream *stream);

/* ---- workloads ---- */

/* Independent draws. With load > 0 the arrivals' gaps are scaled so that the offered load
 * (sum of size x run time / (machine x span)) is that. */
struct pleat_simple_model {
    size_t jobs;
    int32_t machine;
    double load;
    struct pleat_distribution gap, run, size; /* seconds, seconds, processors */
    double estimate; /* users' estimates are run time x uniform(1, this); 0: none */
    uint64_t seed;
};
int pleat_generate_simple(const struct pleat_simple_model *model, struct pleat_workload *workload,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

/* Lublin and Feitelson 2003, "The workload on parallel supercomputers", batch jobs: two-stage
 * uniform sizes with serial jobs and powers of two, hyper-gamma run times that depend on the size,
 * gamma gaps with a daily cycle. The published parameters, scaled to `machine`. */
struct pleat_lublin_model {
    size_t jobs;
    int32_t machine;
    double load; /* 0: as the model gives */
    uint64_t seed;
};
int pleat_generate_lublin(const struct pleat_lublin_model *model, struct pleat_workload *workload,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

/* Utrera 2010, 3.2 and equation 3.2: jobs drawn from classes of applications, gaps exponential so
 * that a nominal load (sequential time over processors) is reached. */
struct pleat_utrera_model {
    size_t jobs;
    int32_t machine; /* 60 in the thesis */
    double load;     /* 0.4 to 1 */
    const char *mix; /* "w1" ... "w6" of table 3.3 */
    uint64_t seed;
};
int pleat_generate_utrera(const struct pleat_utrera_model *model, struct pleat_workload *workload,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

/* models.h - the models of workloads that have options: for `pleat workload generate MODEL`, for
 * `pleat sim --generate "MODEL ..."`, and for libpleat-sim. */
#ifndef PLEAT_SCENARIO_MODELS_H
#define PLEAT_SCENARIO_MODELS_H

#include <getopt.h>

#include "workload/generate.h"

/* Estimates as users give them (workload/estimate.h). */
struct pleat_popular {
    bool wanted;
    int64_t longest_us; /* 0: derived from the run times */
};

/* Reads "popular" or "popular:48h". False, without an error: the text is something else. Where it
 * begins like that and is wrong, err has a code. */
bool pleat_parse_popular(const char *option, const char *text, struct pleat_popular *popular,
                         struct pleat_error *err);

/* The request for any model. Each model reads its own member. */
struct pleat_model_request {
    struct pleat_simple_model simple;
    struct pleat_lublin_model lublin;
    struct pleat_utrera_model utrera;
    bool has_size, has_gap, has_load;
    /* where popular estimates are wanted; otherwise the model's own */
    struct pleat_popular estimates;
};

struct pleat_model {
    const char *name;             /* of `pleat workload generate NAME` */
    const struct option *options; /* the last entry is zeroed */
    /* Reads the value (optarg) of an option. PLEAT_E_INVALID. */
    int (*take)(struct pleat_model_request *request, int option, struct pleat_error *err);
    void (*seed)(struct pleat_model_request *request, uint64_t seed);
    /* As pleat_generate_simple and its like. May be called in any thread. */
    int (*generate)(const struct pleat_model_request *request, struct pleat_workload *workload,
                    struct pleat_error *err);
};

extern const struct pleat_model pleat_model_simple, pleat_model_lublin, pleat_model_utrera;

void pleat_model_request_init(struct pleat_model_request *request);

/* ---- a model and its options in one text: "lublin --jobs 1000 --load 0.7" ---- */

struct pleat_generator {
    const struct pleat_model *model;
    struct pleat_model_request request;
    char *text, *words; /* the options as given, and the words that the request refers to */
};

/* Reads a model and its options, which are separated by blanks; --seed is not allowed. Uses getopt,
 * so it must not be called while other options are read. PLEAT_E_INVALID: err says what is wrong.
 * PLEAT_E_NOMEM. Finish after success. */
int pleat_generator_init(struct pleat_generator *generator, const char *text,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_generator_finish(struct pleat_generator *generator);
/* Generates the workload of a seed, into an initialized, empty one. A seed gives the same workload
 * as `pleat workload generate MODEL ... --seed SEED`. May be called in any thread. */
int pleat_generator_draw(const struct pleat_generator *generator, uint64_t seed,
                         struct pleat_workload *workload, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

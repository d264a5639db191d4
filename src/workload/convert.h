/* convert.h - makes a share of a rigid workload moldable or malleable.
 *
 * The rule: whether a rigid job is chosen depends on its number, the seed and the share alone. So
 * the jobs chosen at 20 % are among those chosen at 50 %, whatever log they are in. A chosen job
 * gets
 *     minimum = max(1, ceil(minimum x size)),
 *     maximum = min(machine, max(minimum, floor(maximum x size))),
 * and the given application. Its run time and estimate hold for its recorded size. Where the
 * accepted sizes are those of the application's speedup table, minimum and maximum are then moved
 * inward to such a size. A chosen job without an accepted size from minimum to maximum stays rigid.
 */
#ifndef PLEAT_WORKLOAD_CONVERT_H
#define PLEAT_WORKLOAD_CONVERT_H

#include "model/workload.h"

struct pleat_conversion {
    double share;             /* of the rigid jobs that are chosen: 0 to 1 */
    enum pleat_job_kind kind; /* MOLDABLE or MALLEABLE */
    double minimum, maximum;  /* factors of the recorded size: 0.25 and 2 by default */
    /* factor of the recorded size; the result is rounded, then moved to an accepted size within the
     * limits; 0: as many as are free */
    double initial;
    int32_t machine;                  /* upper limit of all maxima; 0: none */
    enum pleat_sizes_kind sizes_kind; /* LIST: the sizes of app's speedup table */
    int32_t sizes_parameter;          /* of MULTIPLES */
    /* appended to the workload's apps; the rows of its tables must be there already */
    struct pleat_app app;
    uint64_t seed;
};

/* The default: all jobs become malleable, from 0.25 to 2 times their size, at any size, with
 * Amdahl's law and a serial fraction of 2 %, at any moment, at no cost, with seed 1. */
void pleat_conversion_default(struct pleat_conversion *conversion);

/* Reads "any", "powers", "squares", "grids", "multiples:N", or "table", which gives LIST with an
 * empty sizes->list. PLEAT_E_INVALID, PLEAT_E_NOMEM. */
int pleat_conversion_sizes_parse(const char *text, struct pleat_sizes *sizes,
                                 struct pleat_error *err) PLEAT_MUST_CHECK;

/* Converts the chosen jobs. *converted (may be NULL): how many jobs were converted. The application
 * is appended only if a job gets it. PLEAT_E_INVALID, PLEAT_E_NOMEM: nothing was changed. */
int pleat_workload_convert(struct pleat_workload *workload,
                           const struct pleat_conversion *conversion, size_t *converted,
                           struct pleat_error *err) PLEAT_MUST_CHECK;

/* Divides the gaps between submissions by `factor`, which multiplies the offered load by it.
 * Deadlines and reservations keep their distance to the submission. */
void pleat_workload_scale_load(struct pleat_workload *workload, double factor);

/* Reads an application as users write it:
 *   "linear", "amdahl:0.02", "downey:A,SIGMA", "table:1=600,2=330,4=200" (processors=seconds),
 * then options, each at most once, after spaces or a semicolon: "adapt=30s", "iterations=100",
 * "resize=2s", "volume=1e9", "bandwidth=1e9", "measured=2-4=1.5s,4-2=0.7s", "mpl-overhead=0.1",
 * "imbalance=0.2", "local-queues", "phases=0.5:1-8,0.8:1-2", "asks=0.3:+4,0.6:must+8,0.9:-2",
 * "sections=20x0.01", "component=4", "work=20", "objects=10", "gain=10/100", "spread=0.09",
 * "notices=10", "loses=150/20", "balanced", "name=cg". Times are in seconds, or have a unit: us,
 * ms, s, min (or m), h. Rows of tables go to the workload's tables. PLEAT_E_INVALID (err says which
 * word), PLEAT_E_NOMEM: nothing is changed.
 */
int pleat_app_parse(const char *text, struct pleat_workload *workload, struct pleat_app *app,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends the text that pleat_app_parse reads. */
void pleat_app_format(const struct pleat_workload *workload, const struct pleat_app *app,
                      struct pleat_string *out);

#endif

/* convert.h - makes a share of a rigid workload moldable or malleable.
 *
 * The rule: every rigid job is chosen or not by its number and the seed alone (so that the jobs
 * chosen at 20 % are among those chosen at 50 %, in whatever log they are); a chosen one gets
 *     minimum = max(1, ceil(minimum x size)),
 *     maximum = min(machine, max(minimum, floor(maximum x size))),
 * the application given, and its recorded size as the one for which its run time and estimate hold.
 * Where the accepted sizes are those of the application's speedup table, both are then moved inward
 * to such a size. A chosen job for which no accepted size is left from minimum to maximum stays as
 * it is.
 */
#ifndef PLEAT_WORKLOAD_CONVERT_H
#define PLEAT_WORKLOAD_CONVERT_H

#include "model/workload.h"

struct pleat_conversion {
    double share;             /* of the rigid jobs: 0 to 1 */
    enum pleat_job_kind kind; /* MOLDABLE or MALLEABLE */
    double minimum, maximum;  /* times the recorded size: 0.25 and 2 by default */
    double initial;           /* times the recorded size, rounded, then brought to an accepted size
                               * within the limits; 0: as many as are available */
    int32_t machine;          /* no maximum above this; 0: no limit */
    enum pleat_sizes_kind sizes_kind; /* LIST: the sizes of app's speedup table */
    int32_t sizes_parameter;          /* of MULTIPLES */
    struct pleat_app app; /* appended to the workload's apps; its table rows must be there */
    uint64_t seed;
};

/* Malleable, 0.25 to 2 times, all jobs, any size, Amdahl with a serial fraction of 2 %, any moment,
 * no cost, seed 1. */
void pleat_conversion_default(struct pleat_conversion *conversion);

/* Reads "any", "powers", "squares", "grids", "multiples:N", or "table", which is LIST (sizes->list
 * stays empty). PLEAT_E_INVALID, PLEAT_E_NOMEM. */
int pleat_conversion_sizes_parse(const char *text, struct pleat_sizes *sizes,
                                 struct pleat_error *err) PLEAT_MUST_CHECK;

/* PLEAT_E_INVALID, PLEAT_E_NOMEM: nothing is changed. *converted (may be NULL): how many. The
 * application is appended only if a job gets it. */
int pleat_workload_convert(struct pleat_workload *workload,
                           const struct pleat_conversion *conversion, size_t *converted,
                           struct pleat_error *err) PLEAT_MUST_CHECK;

/* Gaps between submissions become gap / factor, so the offered load becomes `factor` times what it
 * was; deadlines and reservations keep their distance to the submission. */
void pleat_workload_scale_load(struct pleat_workload *workload, double factor);

/* Reads an application as users write it:
 *   "linear", "amdahl:0.02", "downey:A,SIGMA", "table:1=600,2=330,4=200" (processors=seconds),
 * then options, each once, after spaces or a semicolon: "adapt=30s", "iterations=100", "resize=2s",
 * "volume=1e9", "bandwidth=1e9", "measured=2-4=1.5s,4-2=0.7s", "mpl-overhead=0.1",
 * "imbalance=0.2", "local-queues", "phases=0.5:1-8,0.8:1-2", "component=4", "work=20",
 * "objects=10", "gain=10/100", "spread=0.09", "notices=10", "balanced", "name=cg". Times are
 * seconds, or have a unit: us, ms, s, min (or m), h. Rows go to the workload's tables.
 * PLEAT_E_INVALID (err says which word), PLEAT_E_NOMEM: nothing is changed. */
int pleat_app_parse(const char *text, struct pleat_workload *workload, struct pleat_app *app,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* Adds the text that parse reads. */
void pleat_app_format(const struct pleat_workload *workload, const struct pleat_app *app,
                      struct pleat_string *out);

#endif

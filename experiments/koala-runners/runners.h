/* runners.h - the experiments of Lammers 2005 with KOALA's runners: jobs of several components over
 * the clusters of the DAS-2 (3.9), and malleable jobs made of components (5.6). */
#ifndef PLEAT_EXPERIMENTS_KOALA_RUNNERS_H
#define PLEAT_EXPERIMENTS_KOALA_RUNNERS_H

#include "experiment/experiment.h"

/* A workload on a platform, and the results of its run. */
struct runners_trial {
    struct pleat_workload workload;
    struct pleat_platform platform;
    struct pleat_sim_options options;
    struct pleat_events log; /* of the run, where options.log points to it */
    struct pleat_trial trial;
};

/* Makes an empty workload and platform. To be finished in any case, also after a failure. */
int runners_init(struct runners_trial *trial, struct pleat_error *err) PLEAT_MUST_CHECK;
void runners_finish(struct runners_trial *trial);
/* A cluster of dual nodes; `others`: processors that local users have all the time. */
int runners_add_cluster(struct runners_trial *trial, const char *name, int32_t nodes,
                        int32_t others) PLEAT_MUST_CHECK;
static inline struct pleat_sim_site *runners_cluster(struct runners_trial *trial, size_t index)
{
    return &trial->platform.sites.items[index];
}
/* Runs the workload with these policies, and keeps all changes of partitions. */
int runners_run(struct runners_trial *trial, const struct pleat_study *study, const char *policies,
                struct pleat_error *err) PLEAT_MUST_CHECK;

/* The load of a cluster over time, in percent of its processors: by the jobs whose index is in
 * [first, last), and, with `with_others`, by local users. */
int runners_load(const struct runners_trial *trial, uint32_t site, size_t first, size_t last,
                 bool with_others, struct pleat_curve *curve) PLEAT_MUST_CHECK;

/* ---- the parts of the page ---- */
int runners_rigid(struct pleat_study *study, struct pleat_error *err) PLEAT_MUST_CHECK;
int runners_malleable(struct pleat_study *study, struct pleat_error *err) PLEAT_MUST_CHECK;
int runners_sharing(struct pleat_study *study, struct pleat_error *err) PLEAT_MUST_CHECK;
int runners_room(struct pleat_study *study, struct pleat_error *err) PLEAT_MUST_CHECK;

/* The application of 5.6: components of 4 processors that sleep for 200 s. Appends it; *index: its
 * place. */
int runners_add_sleeper(struct runners_trial *trial, int32_t work,
                        uint32_t *index) PLEAT_MUST_CHECK;
/* A job of that application. */
struct pleat_workload_job runners_sleeper(uint32_t app, int32_t minimum, int32_t maximum);

enum { COMPONENT = 4, PIECE_S = 200 };

#endif

/* elastisim-model.h - ElastiSim's application models: how long they take on a number of nodes. */
#ifndef PLEAT_SCENARIO_ELASTISIM_MODEL_H
#define PLEAT_SCENARIO_ELASTISIM_MODEL_H

#include "scenario/foreign.h"

struct pleat_elastisim_model {
    char *path;   /* of its file; that of the jobs, where it stands in there */
    json_t *json; /* borrowed in that case */
    bool own;
};

struct pleat_elastisim_models {
    struct pleat_foreign *foreign;
    PLEAT_ARRAY(, struct pleat_elastisim_model *) read;
};

/* Gives the model that `value` names: the path of a file, which counts from the directory of the
 * jobs' file, else from the present one; or the model itself. */
int pleat_elastisim_model(struct pleat_elastisim_models *models,
                          const struct pleat_member_place *place, const json_t *value,
                          const struct pleat_elastisim_model **model) PLEAT_MUST_CHECK;
void pleat_elastisim_models_finish(struct pleat_elastisim_models *models);

/* What a model comes to, with the arguments of a job. */
struct pleat_elastisim_walk {
    struct pleat_foreign *foreign;
    const struct pleat_elastisim_model *model;
    const json_t *arguments; /* NULL: none */
    int64_t nodes;
    double seconds;
    int32_t points;      /* scheduling points */
    bool transfers;      /* there are messages or files */
    const char *unknown; /* why nothing tells how long it takes; NULL */
    int depth;
};

/* Computes all but the first three members for a run on `nodes` nodes. */
int pleat_elastisim_time(struct pleat_elastisim_walk *walk, int64_t nodes) PLEAT_MUST_CHECK;
/* How long a reconfiguration takes: the longer one of those to the least and to the most nodes. The
 * walk stays that of the run. */
int pleat_elastisim_resize_time(struct pleat_elastisim_walk *walk, int64_t least, int64_t most,
                                double *seconds) PLEAT_MUST_CHECK;

#endif

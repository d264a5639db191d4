#include "experiments/list.h"

#include <string.h>

static const struct pleat_experiment *const all[] = {
    &pleat_experiment_application_agent,    &pleat_experiment_koala_malleable,
    &pleat_experiment_koala_runners,        &pleat_experiment_resizable,
    &pleat_experiment_virtual_malleability, &pleat_experiment_logs,
};

const struct pleat_experiment *pleat_experiment_at(size_t i)
{
    return i < sizeof(all) / sizeof(all[0]) ? all[i] : NULL;
}

const struct pleat_experiment *pleat_experiment_find(const char *name)
{
    for (size_t i = 0; pleat_experiment_at(i); i++)
        if (!strcmp(all[i]->name, name))
            return all[i];
    return NULL;
}

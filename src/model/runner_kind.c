#include "model/runner_kind.h"

#include <string.h>

const struct pleat_runner_kind pleat_runner_kinds[PLEAT_RUNNER_KIND_COUNT] = {
#define RUNNER(name, capabilities, starts) {name, capabilities, starts},
#include "model/runners.def"
#undef RUNNER
};

const char *const pleat_runner_names[PLEAT_RUNNER_KIND_COUNT + 1] = {
#define RUNNER(name, capabilities, starts) name,
#include "model/runners.def"
#undef RUNNER
    NULL};

const char pleat_runner_words[] = "auto"
#define RUNNER(name, capabilities, starts) " " name
#include "model/runners.def"
#undef RUNNER
    ;

const struct pleat_runner_kind *pleat_runner_kind_find(const char *name)
{
    for (size_t i = 0; i < PLEAT_RUNNER_KIND_COUNT; i++)
        if (!strcmp(pleat_runner_kinds[i].name, name))
            return &pleat_runner_kinds[i];
    return NULL;
}

unsigned pleat_runner_starts(const char *name)
{
    const struct pleat_runner_kind *kind = pleat_runner_kind_find(name);
    return kind ? kind->starts : 0;
}

#include "model/spec.h"

#include <stdlib.h>
#include <string.h>

static void free_list(char **list)
{
    for (char **item = list; item && *item; item++)
        free(*item);
    free(list);
}

void pleat_spec_finish(struct pleat_spec *spec)
{
    free(spec->name);
    free_list(spec->argv);
    free_list(spec->env);
    free(spec->cwd);
    free(spec->runner);
    free(spec->mpi);
    free(spec->site);
    free(spec->sizes_text);
    pleat_array_finish(&spec->size_list);
    memset(spec, 0, sizeof(*spec));
}

#include "gridengine/pe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gridengine/ask.h"
#include "gridengine/system.h"

enum { NAME_SIZE = 256, ENVIRONMENTS_MAX = 64 };

/* Operations are called one at a time. */
static char good[NAME_SIZE];

/* How a parallel environment is configured, in words; NULL: it can be used. */
static const char *trouble_with(const char *shown)
{
    char value[64];
    if (strcmp(pleat_gridengine_value(shown, "allocation_rule", value, sizeof(value)),
               "$pe_slots") != 0)
        return "has another allocation_rule than $pe_slots: its jobs are not on one node";
    if (strcmp(pleat_gridengine_value(shown, "control_slaves", value, sizeof(value)), "TRUE") != 0)
        return "has not control_slaves TRUE: nothing can be started in its jobs";
    return NULL;
}

static int ask_about(const char *name, const char **trouble, struct pleat_error *err)
{
    const char *const argv[] = {"qconf", "-sp", name, NULL};
    char *shown;
    int failure = pleat_gridengine_ask(argv, &shown, err);
    if (failure)
        return failure;
    *trouble = trouble_with(shown);
    free(shown);
    return 0;
}

static int look_for(json_t *names, struct pleat_error *err)
{
    static const char *const argv[] = {"qconf", "-spl", NULL};
    char *list;
    int failure = pleat_gridengine_ask(argv, &list, err), count = 0;
    if (failure)
        return failure;
    char *rest = list;
    for (char *name; !failure && count < ENVIRONMENTS_MAX && (name = strsep(&rest, "\n"));) {
        const char *trouble;
        if (!pleat_adapter_is_word(name, NAME_SIZE - 1))
            continue;
        count++;
        failure = ask_about(name, &trouble, err);
        if (!failure && !trouble)
            json_array_append_new(names, json_string(name));
    }
    free(list);
    return failure;
}

int pleat_gridengine_pes(const char *wanted, json_t **names, struct pleat_error *err)
{
    const char *trouble = NULL;
    int failure = 0;
    *names = json_array();
    if (wanted && strcmp(wanted, good) != 0) {
        failure = ask_about(wanted, &trouble, err);
        if (!failure && trouble)
            failure = pleat_error_set(err, PLEAT_E_INVALID, "the parallel environment %s %s",
                                      wanted, trouble);
    }
    if (!failure && (wanted || good[0]))
        json_array_append_new(*names, json_string(wanted ? wanted : good));
    else if (!failure)
        failure = look_for(*names, err);
    if (!failure && json_array_size(*names) == 0)
        failure = pleat_error_set(err, PLEAT_E_INVALID,
                                  "there is no parallel environment with allocation_rule $pe_slots "
                                  "and control_slaves TRUE: jobs need one");
    if (failure) {
        json_decref(*names);
        *names = NULL;
    }
    return failure;
}

void pleat_gridengine_pe_good(const char *name)
{
    snprintf(good, sizeof(good), "%s", name);
}

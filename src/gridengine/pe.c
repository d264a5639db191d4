#include "gridengine/pe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gridengine/ask.h"
#include "gridengine/system.h"

enum { NAME_SIZE = 256, ENVIRONMENTS_MAX = 64 };

/* Operations are called one at a time. */
static char good[2][NAME_SIZE]; /* [1]: for several nodes */

/* What keeps a parallel environment from being used, in words; NULL: nothing. */
static const char *trouble_with(const char *shown, bool several)
{
    char rule[64], control[16];
    pleat_gridengine_value(shown, "allocation_rule", rule, sizeof(rule));
    pleat_gridengine_value(shown, "control_slaves", control, sizeof(control));
    if (!several && strcmp(rule, "$pe_slots") != 0)
        return "has another allocation_rule than $pe_slots: its jobs are not on one node";
    if (several && strcmp(rule, "$fill_up") != 0 && strcmp(rule, "$round_robin") != 0)
        return "has another allocation_rule than $fill_up or $round_robin";
    if (strcmp(control, "TRUE") != 0)
        return "has not control_slaves TRUE: nothing can be started in its jobs";
    return NULL;
}

static int ask_about(const char *name, bool several, const char **trouble, struct pleat_error *err)
{
    const char *const argv[] = {"qconf", "-sp", name, NULL};
    char *shown;
    int failure = pleat_gridengine_ask(argv, &shown, err);
    if (failure)
        return failure;
    *trouble = trouble_with(shown, several);
    free(shown);
    return 0;
}

static int look_for(bool several, json_t *names, struct pleat_error *err)
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
        failure = ask_about(name, several, &trouble, err);
        if (!failure && !trouble)
            json_array_append_new(names, json_string(name));
    }
    free(list);
    return failure;
}

static int no_pe(bool several, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "there is no parallel environment with allocation_rule %s and "
                           "control_slaves TRUE: %s need one",
                           several ? "$fill_up" : "$pe_slots",
                           several ? "jobs on several nodes" : "jobs");
}

static int untold(bool several, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_PERMISSION,
                           "this host is not told which parallel environments there are, since "
                           "it is no host of administrators: the site's option %s has to name one",
                           several ? "pe_nodes" : "pe");
}

int pleat_gridengine_pes(bool several, const char *wanted, json_t **names, struct pleat_error *err)
{
    const char *known = good[several], *trouble = NULL;
    int failure = 0;
    *names = json_array();
    if (wanted && strcmp(wanted, known) != 0) {
        failure = ask_about(wanted, several, &trouble, err);
        if (failure == PLEAT_E_PERMISSION) /* qconf tells hosts of administrators alone */
            failure = 0;
        if (!failure && trouble)
            failure = pleat_error_set(err, PLEAT_E_INVALID, "the parallel environment %s %s",
                                      wanted, trouble);
    }
    if (!failure && (wanted || known[0]))
        json_array_append_new(*names, json_string(wanted ? wanted : known));
    else if (!failure)
        failure = look_for(several, *names, err);
    if (failure == PLEAT_E_PERMISSION)
        failure = untold(several, err);
    if (!failure && json_array_size(*names) == 0)
        failure = no_pe(several, err);
    if (failure) {
        json_decref(*names);
        *names = NULL;
    }
    return failure;
}

void pleat_gridengine_pe_good(bool several, const char *name)
{
    snprintf(good[several], sizeof(good[several]), "%s", name);
}

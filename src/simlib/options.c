/* options.c - sites, policies and parameters of a simulation. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "describe/values.h"
#include "scenario/parameter.h"
#include "scenario/platform_file.h"
#include "simlib/simulation.h"

int pleat_simulation_site(struct pleat_simulation *simulation, const char *name, int64_t processors,
                          struct pleat_error *err)
{
    const struct pleat_sim_sites *sites = &simulation->platform.sites;
    size_t length = strlen(name);
    if (length == 0 || length >= sizeof(sites->items[0].name))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a site's name has from 1 to %zu bytes; '%.70s' has not",
                               sizeof(sites->items[0].name) - 1, name);
    if (processors < 1 || processors >= PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "site %s: %lld processors: not from 1 to less than %d", name,
                               (long long)processors, PLEAT_SIZE_MAX);
    for (size_t i = 0; i < sites->count; i++)
        if (!strcmp(sites->items[i].name, name))
            return pleat_error_set(err, PLEAT_E_EXISTS, "there are two sites called '%s'", name);
    if (sites->count == PLEAT_SITES_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "at most %d sites", PLEAT_SITES_MAX);
    return pleat_platform_add(&simulation->platform, name, (int32_t)processors)
               ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
               : 0;
}

int pleat_simulation_platform(struct pleat_simulation *simulation, const char *path,
                              struct pleat_error *err)
{
    simulation_forget(simulation);
    return pleat_platform_read(path, &simulation->platform, &simulation->platform_notes, err);
}

/* The question of that name; PLEAT_QUESTION_COUNT: there is none. */
static enum pleat_question question_named(const char *name)
{
    int q = 0;
    while (q < PLEAT_QUESTION_COUNT &&
           strcmp(pleat_question_name((enum pleat_question)q), name) != 0)
        q++;
    return (enum pleat_question)q;
}

static int unknown_policy(enum pleat_question question, const char *name, struct pleat_error *err)
{
    const char *names[64];
    size_t count = 0;
    char list[300] = "";
    const struct pleat_policy *policy;
    for (size_t i = 0; (policy = pleat_policy_at(i)) && count < sizeof(names) / sizeof(names[0]);
         i++)
        if (policy->question == question)
            names[count++] = policy->name;
    for (size_t i = 0; i < count; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "", names[i]);
    const char *near = pleat_nearest(name, names, count);
    return pleat_error_set(err, PLEAT_E_NOTFOUND,
                           "there is no %s policy '%.60s'%s%s%s; there are: %s",
                           pleat_question_name(question), name, near ? " (did you mean '" : "",
                           near ? near : "", near ? "'?)" : "", list);
}

static int set_policy(struct pleat_simulation *simulation, enum pleat_question question,
                      const char *name, struct pleat_error *err)
{
    const struct pleat_policy *policy = pleat_policy_find(question, name);
    if (!policy)
        return unknown_policy(question, name, err);
    simulation->options.policies[question] = policy;
    simulation->own[question] = (struct own_policy){0};
    return 0;
}

static int set_flag(const char *key, const char *value, bool *flag, struct pleat_error *err)
{
    static const char *const words[] = {"no", "yes"};
    size_t word = 0;
    int rc = pleat_parse_word(key, value, words, 2, &word, err);
    if (!rc)
        *flag = word == 1;
    return rc;
}

int pleat_simulation_set(struct pleat_simulation *simulation, const char *key, const char *value,
                         struct pleat_error *err)
{
    static const char *const estimates[] = {"given", "exact"};
    struct pleat_sim_options *options = &simulation->options;
    enum pleat_question question = question_named(key);
    size_t word = 0;
    int64_t seed = 0;
    int rc;
    if (question < PLEAT_QUESTION_COUNT)
        return set_policy(simulation, question, value, err);
    if (!strcmp(key, "seed")) {
        rc = pleat_parse_int(key, value, 0, INT64_MAX, &seed, err);
        options->seed = rc ? options->seed : (uint64_t)seed;
        return rc;
    }
    if (!strcmp(key, "estimates")) {
        rc = pleat_parse_word(key, value, estimates, 2, &word, err);
        options->estimates = word == 1 ? PLEAT_ESTIMATES_EXACT : PLEAT_ESTIMATES_GIVEN;
        return rc;
    }
    if (!strcmp(key, "kill_at_estimate"))
        return set_flag(key, value, &options->kill_at_estimate, err);
    if (!strcmp(key, "feedback"))
        return set_flag(key, value, &options->feedback, err);
    if (!strcmp(key, "noise"))
        return pleat_parse_percent(key, value, &options->time_noise, err);
    return pleat_parameter_read(key, value, options->parameters, err);
}

int pleat_simulation_policy_at(size_t i, const char **question, const char **name,
                               const char **summary)
{
    const struct pleat_policy *policy = pleat_policy_at(i);
    if (!policy)
        return 0;
    *question = pleat_question_name(policy->question);
    *name = policy->name;
    *summary = policy->summary;
    return 1;
}

int pleat_simulation_own_policy(struct pleat_simulation *simulation, const char *question,
                                pleat_simulation_answer *answer, void *context,
                                struct pleat_error *err)
{
    enum pleat_question which = question_named(question);
    if (which == PLEAT_QUESTION_COUNT || !own_policy_of(which))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "a program can have its own policy of malleability, queue or order, "
                               "not of '%.40s'",
                               question);
    simulation->own[which] = (struct own_policy){answer, context};
    simulation->options.policies[which] = answer ? own_policy_of(which) : NULL;
    return 0;
}

void pleat_simulation_on_progress(struct pleat_simulation *simulation, pleat_simulation_told *told,
                                  void *context)
{
    simulation->told = told;
    simulation->told_context = context;
}

#include "cli/sim/request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "scenario/parameter.h"

void pleat_sim_request_init(struct pleat_sim_request *request)
{
    *request = (struct pleat_sim_request){.minimum = 0.25,
                                          .maximum = 2,
                                          .load = 1,
                                          .from_s = (double)NAN,
                                          .to_s = (double)NAN,
                                          .zero = PLEAT_SWF_ZERO_SKIP,
                                          .seed = 1,
                                          .seeds = 1,
                                          .malleable_count = 1};
}

void pleat_sim_request_finish(struct pleat_sim_request *request)
{
    for (size_t i = 0; i < request->own.count; i++)
        free(request->own.items[i]);
    pleat_array_finish(&request->own);
    pleat_array_finish(&request->combinations);
    pleat_generator_finish(&request->generator);
    pleat_platform_finish(&request->platform);
}

/* Copies a text, for the life of the request. */
static char *keep(struct pleat_sim_request *request, const char *text, size_t length)
{
    char *copy = strndup(text, length);
    if (copy && pleat_array_push(&request->own, copy)) {
        free(copy);
        return NULL;
    }
    return copy;
}

/* ---- workloads ---- */

static int add_workload(struct pleat_sim_request *request, const char *name,
                        struct pleat_error *err)
{
    if (!*name)
        return pleat_error_set(err, PLEAT_E_INVALID, "--workload: a file has no name");
    for (size_t i = 0; i < request->workload_count; i++)
        if (!strcmp(request->workloads[i], name))
            return pleat_error_set(err, PLEAT_E_INVALID, "--workload: '%s' is there twice", name);
    if (request->workload_count == PLEAT_SIM_WORKLOADS_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "--workload: at most %d files",
                               PLEAT_SIM_WORKLOADS_MAX);
    request->workloads[request->workload_count++] = name;
    return 0;
}

int pleat_sim_request_workload(struct pleat_sim_request *request, const char *text,
                               struct pleat_error *err)
{
    if (!strchr(text, ',') || access(text, F_OK) == 0)
        return add_workload(request, text, err);
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        char *name = keep(request, at, length);
        int rc = name ? add_workload(request, name, err)
                      : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        if (rc)
            return rc;
        at += length;
        if (!*at)
            return 0;
    }
}

int pleat_sim_request_malleable(struct pleat_sim_request *request, const char *text,
                                struct pleat_error *err)
{
    request->malleable_count = 0;
    for (const char *at = text;; at++) {
        char number[40];
        size_t length = strcspn(at, ",");
        double *share = &request->malleable[request->malleable_count];
        if (request->malleable_count == PLEAT_SIM_CHOICES_MAX)
            return pleat_error_set(err, PLEAT_E_INVALID, "--malleable: at most %d shares",
                                   PLEAT_SIM_CHOICES_MAX);
        snprintf(number, sizeof(number), "%.*s", (int)length, at);
        int rc = pleat_parse_percent("--malleable", number, share, err);
        if (rc)
            return rc;
        for (size_t i = 0; i < request->malleable_count; i++)
            if (fabs(request->malleable[i] - *share) < 1e-9)
                return pleat_error_set(err, PLEAT_E_INVALID, "--malleable: '%s' is there twice",
                                       number);
        request->malleable_count++;
        at += length;
        if (!*at)
            return 0;
    }
}

double pleat_sim_request_most_malleable(const struct pleat_sim_request *request)
{
    double most = 0;
    for (size_t i = 0; i < request->malleable_count; i++)
        most = fmax(most, request->malleable[i]);
    return most;
}

int pleat_sim_request_cut(const char *option, const char *text, struct pleat_sim_cut *cut,
                          struct pleat_error *err)
{
    *cut = (struct pleat_sim_cut){0};
    size_t length = strlen(text);
    if (length > 0 && text[length - 1] == '%')
        return pleat_parse_percent(option, text, &cut->share, err);
    return pleat_parse_duration(option, text, &cut->seconds, err);
}

/* ---- policies ---- */

enum { NAMES_MAX = 64 };

static size_t names_of(enum pleat_question question, const char **names, size_t count)
{
    const struct pleat_policy *policy;
    for (size_t i = 0; (policy = pleat_policy_at(i)) && count < NAMES_MAX; i++)
        if (policy->question == question)
            names[count++] = policy->name;
    return count;
}

static int unknown_policy(enum pleat_question question, const char *name, struct pleat_error *err)
{
    const char *names[NAMES_MAX];
    size_t own = names_of(question, names, 0);
    size_t count = question == PLEAT_QUEUE ? names_of(PLEAT_ORDER, names, own) : own;
    const char *near = pleat_nearest(name, names, count);
    char list[300] = "";
    for (size_t i = 0; i < count; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
                 i == own ? "; or an order: "
                 : i > 0  ? ", "
                          : "",
                 names[i]);
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "--%s: there is no policy '%s'%s%s%s; there are: %s",
                           pleat_question_name(question), name, near ? " (did you mean '" : "",
                           near ? near : "", near ? "'?)" : "", list);
}

static int choose_one(struct pleat_sim_request *request, enum pleat_question question,
                      const char *name, struct pleat_error *err)
{
    struct pleat_sim_choices *choices = &request->choices[question];
    struct pleat_sim_choice choice = {.name = name, .policy = pleat_policy_find(question, name)};
    if (!choice.policy && question == PLEAT_QUEUE) {
        choice.order = pleat_policy_find(PLEAT_ORDER, name);
        choice.policy = choice.order ? pleat_policy_default(question) : NULL;
    }
    if (!choice.policy)
        return unknown_policy(question, name, err);
    for (size_t i = 0; i < choices->count; i++)
        if (!strcmp(choices->items[i].name, name))
            return pleat_error_set(err, PLEAT_E_INVALID, "--%s: '%s' is there twice",
                                   pleat_question_name(question), name);
    if (choices->count == PLEAT_SIM_CHOICES_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "--%s: at most %d policies",
                               pleat_question_name(question), PLEAT_SIM_CHOICES_MAX);
    choices->items[choices->count++] = choice;
    return 0;
}

int pleat_sim_request_choose(struct pleat_sim_request *request, enum pleat_question question,
                             const char *names, struct pleat_error *err)
{
    for (const char *at = names;; at++) {
        size_t length = strcspn(at, ",");
        char *name = keep(request, at, length);
        if (!name)
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        int rc = choose_one(request, question, name, err);
        if (rc)
            return rc;
        at += length;
        if (!*at)
            return 0;
    }
}

enum { SHARES = PLEAT_QUESTION_COUNT, DIMENSIONS }; /* dimensions of the combinations */

static void name_combination(const struct pleat_sim_request *request, const size_t *at,
                             struct pleat_sim_combination *combination)
{
    char *label = combination->label, *directory = combination->directory;
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        const struct pleat_sim_choices *choices = &request->choices[q];
        if (choices->count < 2)
            continue;
        size_t labelled = strlen(label), named = strlen(directory);
        snprintf(label + labelled, sizeof(combination->label) - labelled, "%s%s",
                 labelled ? " " : "", choices->items[at[q]].name);
        snprintf(directory + named, sizeof(combination->directory) - named, "%s%s-%s",
                 named ? "_" : "", pleat_question_name((enum pleat_question)q),
                 choices->items[at[q]].name);
    }
    if (request->malleable_count < 2)
        return;
    size_t labelled = strlen(label), named = strlen(directory);
    snprintf(label + labelled, sizeof(combination->label) - labelled, "%s%g%%", labelled ? " " : "",
             combination->malleable * 100);
    snprintf(directory + named, sizeof(combination->directory) - named, "%smalleable-%g",
             named ? "_" : "", combination->malleable * 100);
}

static int add_combination(struct pleat_sim_request *request, const size_t *at,
                           struct pleat_error *err)
{
    struct pleat_sim_combination combination = {.malleable = request->malleable[at[SHARES]]};
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        const struct pleat_sim_choices *choices = &request->choices[q];
        combination.policies[q] = choices->count ? choices->items[at[q]].policy
                                                 : pleat_policy_default((enum pleat_question)q);
    }
    const struct pleat_sim_choices *queues = &request->choices[PLEAT_QUEUE];
    if (queues->count && queues->items[at[PLEAT_QUEUE]].order)
        combination.policies[PLEAT_ORDER] = queues->items[at[PLEAT_QUEUE]].order;
    name_combination(request, at, &combination);
    if (pleat_array_push(&request->combinations, combination))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return 0;
}

/* Goes on to the next combination. The last question changes fastest, the share of malleable jobs
 * before it. False: there are no more. */
static bool advance(const struct pleat_sim_request *request, size_t *at)
{
    if (++at[SHARES] < request->malleable_count)
        return true;
    at[SHARES] = 0;
    for (int q = PLEAT_QUESTION_COUNT - 1; q >= 0; q--) {
        if (++at[q] < request->choices[q].count)
            return true;
        at[q] = 0;
    }
    return false;
}

int pleat_sim_request_combine(struct pleat_sim_request *request, struct pleat_error *err)
{
    size_t at[DIMENSIONS] = {0}, runs = request->seeds * request->malleable_count;
    const struct pleat_sim_choices *queues = &request->choices[PLEAT_QUEUE];
    for (size_t i = 0; i < queues->count; i++)
        if (queues->items[i].order && request->choices[PLEAT_ORDER].count)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "--queue %s is short for --order %s: not both",
                                   queues->items[i].name, queues->items[i].name);
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        runs *= request->choices[q].count ? request->choices[q].count : 1;
        if (runs > PLEAT_SIM_RUNS_MAX)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "these are more than %d combinations of policies and seeds",
                                   PLEAT_SIM_RUNS_MAX);
    }
    int rc;
    do
        rc = add_combination(request, at, err);
    while (!rc && advance(request, at));
    return rc;
}

/* ---- sites and parameters ---- */

int pleat_sim_request_site(struct pleat_sim_request *request, const char *text,
                           struct pleat_error *err)
{
    const char *colon = strrchr(text, ':');
    int64_t processors;
    char name[sizeof(request->platform.sites.items[0].name)];
    if (!colon || colon == text || (size_t)(colon - text) >= sizeof(name))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--site: '%s' is not NAME:PROCESSORS (a name of at most %zu bytes)",
                               text, sizeof(name) - 1);
    snprintf(name, sizeof(name), "%.*s", (int)(colon - text), text);
    int rc =
        pleat_parse_int("--site, processors", colon + 1, 1, PLEAT_SIZE_MAX - 1, &processors, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < request->platform.sites.count; i++)
        if (!strcmp(request->platform.sites.items[i].name, name))
            return pleat_error_set(err, PLEAT_E_INVALID, "--site: '%s' is there twice", name);
    if (request->platform.sites.count == PLEAT_SITES_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "--site: at most %d sites", PLEAT_SITES_MAX);
    if (pleat_platform_add(&request->platform, name, (int32_t)processors))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return 0;
}

int pleat_sim_request_parameter(struct pleat_sim_request *request, const char *text,
                                struct pleat_error *err)
{
    char name[40];
    size_t length = strcspn(text, "=");
    if (!text[length])
        return pleat_error_set(err, PLEAT_E_INVALID, "--parameter: '%s' is not NAME=VALUE", text);
    snprintf(name, sizeof(name), "%.*s", length < sizeof(name) ? (int)length : 39, text);
    int rc = pleat_parameter_read(name, text + length + 1, request->parameters, err);
    return rc ? pleat_error_prefix(err, rc, "--parameter") : 0;
}

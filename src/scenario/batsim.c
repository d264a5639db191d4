/* batsim.c - Batsim's workloads: jobs, and the profiles that say what each computes.
 *
 * A job gets the time that its profile takes when nothing disturbs it: the delay, or the operations
 * of its busiest processor over what a processor computes in a second. Messages and files take no
 * time. A resource is a processor. Profiles have had other names in older versions; all are known.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenario/foreign.h"

enum { DEPTH_MOST = 32 };

#define SECONDS_MOST (PLEAT_WORKLOAD_TIME_MAX / 1000000 - 1)

/* What a profile does. */
enum profile_kind {
    PROFILE_DELAY,
    PROFILE_EACH,     /* the same number of operations on each processor */
    PROFILE_TOTAL,    /* operations of all processors together */
    PROFILE_LIST,     /* a number of operations for each processor */
    PROFILE_SEQUENCE, /* other profiles, one after the other */
    PROFILE_TRANSFER, /* only moves data */
    PROFILE_UNKNOWN
};

static const struct {
    const char *type;
    enum profile_kind kind;
} kinds[] = {{"delay", PROFILE_DELAY},
             {"DelayProfile", PROFILE_DELAY},
             {"parallel_homogeneous", PROFILE_EACH},
             {"msg_par_hg", PROFILE_EACH},
             {"ParallelTaskHomogeneousProfile", PROFILE_EACH},
             {"parallel_homogeneous_total", PROFILE_TOTAL},
             {"msg_par_hg_tot", PROFILE_TOTAL},
             {"parallel", PROFILE_LIST},
             {"msg_par", PROFILE_LIST},
             {"ParallelTaskProfile", PROFILE_LIST},
             {"composed", PROFILE_SEQUENCE},
             {"SequentialCompositionProfile", PROFILE_SEQUENCE},
             {"parallel_homogeneous_pfs", PROFILE_TRANSFER},
             {"msg_par_hg_pfs", PROFILE_TRANSFER},
             {"msg_par_hg_pfs0", PROFILE_TRANSFER},
             {"ParallelTaskOnStorageHomogeneousProfile", PROFILE_TRANSFER},
             {"data_staging", PROFILE_TRANSFER},
             {"msg_par_hg_pfs1", PROFILE_TRANSFER},
             {"ParallelTaskDataStagingBetweenStoragesProfile", PROFILE_TRANSFER}};

static enum profile_kind kind_of(const char *type)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!strcmp(kinds[i].type, type))
            return kinds[i].kind;
    return PROFILE_UNKNOWN;
}

/* What a job's profile comes to. */
struct cost {
    struct pleat_foreign *foreign;
    const json_t *profiles;
    int64_t processors; /* of the job */
    double seconds;
    bool transfers;
    const char *unknown; /* the type of a profile that cannot be read; NULL */
};

static int add_profile(struct cost *cost, const char *name, const char *of, double times,
                       int depth);

static int add_operations(struct cost *cost, const struct pleat_member_place *place,
                          double operations, double times)
{
    double flops = cost->foreign->reading->flops;
    if (operations > 0 && !(flops > 0))
        return pleat_member_wrong(place, "cpu",
                                  "operations are counted: say how many a processor does in a "
                                  "second (--flops 100e9 for a platform's speed=\"100Gf\")");
    cost->seconds += operations > 0 ? times * operations / flops : 0;
    return 0;
}

/* Whether a homogeneous profile gives the sum of all processors. */
static bool is_spread(const json_t *profile)
{
    const char *how = json_string_value(json_object_get(profile, "generation_strategy"));
    return how && (!strcmp(how, "DefinedAmountsSpreadUniformly") ||
                   !strcmp(how, "spread_uniform") || !strcmp(how, "spread_uniformly"));
}

static int add_homogeneous(struct cost *cost, const struct pleat_member_place *place,
                           const json_t *profile, bool total, double times)
{
    double cpu = 0, com = 0;
    int rc = pleat_member_real(place, profile, "cpu", 0, 1e30, &cpu);
    if (rc >= 0)
        rc = pleat_member_real(place, profile, "com", 0, 1e30, &com);
    cost->transfers |= com > 0;
    return rc < 0
               ? rc
               : add_operations(cost, place, total ? cpu / (double)cost->processors : cpu, times);
}

static int add_list(struct cost *cost, const struct pleat_member_place *place,
                    const json_t *profile, double times)
{
    const json_t *list = json_object_get(profile, "cpu");
    double most = 0;
    cost->transfers |= json_array_size(json_object_get(profile, "com")) > 0;
    if (list && !json_is_array(list))
        return pleat_member_wrong(place, "cpu", "must be a list, with a number for each processor");
    for (size_t i = 0; i < json_array_size(list); i++) {
        double number = json_number_value(json_array_get(list, i));
        int rc = pleat_foreign_step(cost->foreign);
        if (rc)
            return rc;
        if (!json_is_number(json_array_get(list, i)) || !(number >= 0 && number <= 1e30))
            return pleat_member_wrong(place, "cpu", "entry %zu must be a number from 0 on", i);
        most = fmax(most, number);
    }
    return add_operations(cost, place, most, times);
}

static int add_sequence(struct cost *cost, const struct pleat_member_place *place,
                        const json_t *profile, const char *name, double times, int depth)
{
    const json_t *list = json_object_get(profile, "seq");
    int64_t repeat = 1;
    int rc = pleat_member_whole(place, profile, "nb", 0, 1000000000, &repeat);
    if (rc >= 0)
        rc = pleat_member_whole(place, profile, "repeat", 0, 1000000000, &repeat);
    if (rc < 0)
        return rc;
    if (!json_is_array(list))
        return pleat_member_wrong(place, "seq", "must be a list of the names of profiles");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *part = json_string_value(json_array_get(list, i));
        if (!part)
            return pleat_member_wrong(place, "seq", "entry %zu must be the name of a profile", i);
        rc = add_profile(cost, part, name, times * (double)repeat, depth + 1);
        if (rc)
            return rc;
    }
    return 0;
}

/* Adds what a profile of that name takes, `times` times. of: who names it. */
static int add_profile(struct cost *cost, const char *name, const char *of, double times, int depth)
{
    struct pleat_foreign *foreign = cost->foreign;
    char where[96];
    const char *type = NULL;
    double delay = 0;
    snprintf(where, sizeof(where), "profiles['%.60s']", name);
    const struct pleat_member_place place = {foreign->name, where, foreign->err};
    const json_t *profile = json_object_get(cost->profiles, name);
    int rc = pleat_foreign_step(foreign);
    if (rc)
        return rc;
    if (!json_is_object(profile))
        return pleat_member_wrong(&place, "", "there is no such profile; '%.60s' names it", of);
    if (depth > DEPTH_MOST)
        return pleat_member_wrong(&place, "", "profiles contain one another more than %d deep",
                                  DEPTH_MOST);
    rc = pleat_member_text(&place, profile, "type", &type);
    if (rc <= 0)
        return rc ? rc : pleat_member_wrong(&place, "type", "is missing");
    switch (kind_of(type)) {
    case PROFILE_DELAY:
        rc = pleat_member_real(&place, profile, "delay", 0, (double)SECONDS_MOST, &delay);
        cost->seconds += times * delay;
        return rc == 0 ? pleat_member_wrong(&place, "delay", "is missing") : rc < 0 ? rc : 0;
    case PROFILE_EACH:
    case PROFILE_TOTAL:
        return add_homogeneous(cost, &place, profile,
                               kind_of(type) == PROFILE_TOTAL || is_spread(profile), times);
    case PROFILE_LIST:
        return add_list(cost, &place, profile, times);
    case PROFILE_SEQUENCE:
        return add_sequence(cost, &place, profile, name, times, depth);
    case PROFILE_TRANSFER:
        cost->transfers = true;
        return 0;
    default:
        cost->unknown = type;
        return 0;
    }
}

/* ---- jobs ---- */

/* The number in a job's id: 12, "12" or "workload!12"; -1: it has none. */
static int64_t number_of(const json_t *id)
{
    if (json_is_integer(id))
        return json_integer_value(id) >= 0 ? (int64_t)json_integer_value(id) : -1;
    const char *text = json_string_value(id);
    if (!text)
        return -1;
    const char *mark = strrchr(text, '!');
    text = mark ? mark + 1 : text;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 18 || text[digits])
        return -1;
    int64_t number = 0;
    for (size_t i = 0; i < digits; i++)
        number = number * 10 + (text[i] - '0');
    return number;
}

static int read_job(struct pleat_foreign *foreign, const json_t *profiles, const json_t *json,
                    size_t index)
{
    char where[40];
    snprintf(where, sizeof(where), "jobs[%zu]", index);
    const struct pleat_member_place place = {foreign->name, where, foreign->err};
    double submit_s = 0, limit_s = 0;
    int64_t processors = 0;
    const char *profile = NULL;
    if (!json_is_object(json))
        return pleat_member_wrong(&place, "", "must be an object");
    const json_t *id = json_object_get(json, "id");
    if (!json_is_string(id) && !json_is_integer(id))
        return pleat_member_wrong(&place, "id", "must be a text or a whole number");
    int rc = pleat_member_real(&place, json, "subtime", 0, (double)SECONDS_MOST, &submit_s);
    if (rc <= 0)
        return rc ? rc : pleat_member_wrong(&place, "subtime", "is missing");
    rc = pleat_member_whole(&place, json, "res", 1, PLEAT_SIZE_MAX, &processors);
    if (rc <= 0)
        return rc ? rc : pleat_member_wrong(&place, "res", "is missing");
    rc = pleat_member_real(&place, json, "walltime", -1, (double)SECONDS_MOST, &limit_s);
    if (rc >= 0)
        rc = pleat_member_text(&place, json, "profile", &profile);
    if (rc <= 0)
        return rc ? rc : pleat_member_wrong(&place, "profile", "is missing");
    struct cost cost = {.foreign = foreign, .profiles = profiles, .processors = processors};
    rc = add_profile(&cost, profile, where, 1, 0);
    if (rc)
        return rc;
    if (cost.unknown) {
        char why[80];
        snprintf(why, sizeof(why), "nothing tells how long a profile of type %.30s takes",
                 cost.unknown);
        pleat_foreign_leave_out(foreign, index, why);
        return 0;
    }
    if (cost.seconds > (double)SECONDS_MOST)
        return pleat_member_wrong(&place, "profile", "the job runs for more than 3,170 years");
    struct pleat_workload_job job;
    pleat_foreign_job(&job);
    job.number = number_of(id);
    job.processors = job.minimum = job.maximum = (int32_t)processors;
    foreign->unnumbered += job.number < 0;
    foreign->transfers += cost.transfers;
    foreign->depend += json_array_size(json_object_get(json, "dependencies")) > 0;
    pleat_foreign_times(foreign, &job, submit_s, cost.seconds, limit_s);
    return pleat_foreign_add(foreign, &place, &job);
}

static int by_number(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* Numbers jobs from 1 on where not every id is a number. Ids are unique. */
static int number_jobs(struct pleat_foreign *foreign)
{
    struct pleat_workload_jobs *jobs = &foreign->workload->jobs;
    int64_t *numbers = malloc((jobs->count + 1) * sizeof(*numbers));
    int rc = 0;
    if (!numbers)
        return pleat_error_set(foreign->err, PLEAT_E_NOMEM, "out of memory");
    for (size_t i = 0; i < jobs->count; i++) {
        if (foreign->unnumbered > 0)
            jobs->items[i].number = (int64_t)i + 1;
        numbers[i] = jobs->items[i].number;
    }
    qsort(numbers, jobs->count, sizeof(*numbers), by_number);
    for (size_t i = 1; !rc && i < jobs->count; i++)
        if (numbers[i] == numbers[i - 1])
            rc = pleat_error_set(foreign->err, PLEAT_E_INVALID,
                                 "%s: two jobs have the id %lld: give each its own", foreign->name,
                                 (long long)numbers[i]);
    free(numbers);
    return rc;
}

int pleat_batsim_read(struct pleat_foreign *foreign, const json_t *json)
{
    const struct pleat_member_place place = {foreign->name, "", foreign->err};
    const json_t *jobs = json_object_get(json, "jobs");
    const json_t *profiles = json_object_get(json, "profiles");
    int64_t machine = 0;
    int rc = pleat_member_whole(&place, json, "nb_res", 1, PLEAT_SIZE_MAX, &machine);
    if (rc < 0)
        return rc;
    if (!json_is_array(jobs))
        return pleat_member_wrong(&place, "jobs", "a list of jobs is expected");
    if (!json_is_object(profiles))
        return pleat_member_wrong(&place, "profiles",
                                  "an object with the jobs' profiles is expected");
    foreign->workload->machine = (int32_t)machine;
    rc = 0;
    for (size_t i = 0; !rc && i < json_array_size(jobs); i++)
        rc = read_job(foreign, profiles, json_array_get(jobs, i), i);
    return rc ? rc : number_jobs(foreign);
}

/* The operations, by Grid Engine's commands. An allocation is a job that sleeps, in a parallel
 * environment that puts all its processors on one node, or lets them be on several. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gridengine/ask.h"
#include "gridengine/ask_cluster.h"
#include "gridengine/jobs.h"
#include "gridengine/pe.h"
#include "gridengine/queue.h"
#include "gridengine/system.h"

enum { LIST_SIZE = 512 };

/* ---- allocating ---- */

/* The job sleeps. When it is deleted, which is announced by SIGUSR2 (-notify), it stays as long as
 * there is another process of the job on its node, an agent or what that runs: so a job that Pleat
 * deletes is over at once, and one that somebody else deletes when its jobs have left it, or at the
 * end of its notice. */
#define PLACEHOLDER                                                                                \
    "trap '' USR1; trap 'told=1' USR2; "                                                           \
    "while [ -z \"$told\" ]; do /bin/sleep 2147483647 & wait $!; done; kill $!; "                  \
    "while :; do set -- /proc/[0-9]*/environ; "                                                    \
    "others=$(grep -lsz \"^JOB_ID=$JOB_ID\\$\" \"$@\" | grep -v \"/$$/environ\"); "                \
    "[ -n \"$others\" ] || exit 0; /bin/sleep 0.3; done"

static void add(struct pleat_adapter_words *words, const char *option, const char *value)
{
    if (!value)
        return;
    pleat_adapter_word(words, option);
    pleat_adapter_word(words, value);
}

/* What is asked for with -l; "": nothing. */
static void add_limits(struct pleat_adapter_words *words, const struct pleat_adapter_wish *wish)
{
    char text[LIST_SIZE];
    if (wish->minutes) {
        snprintf(text, sizeof(text), "h_rt=%" PRIu64, (uint64_t)wish->minutes * 60);
        add(words, "-l", text);
    }
    if (wish->memory_mb) { /* which counts for each slot */
        snprintf(text, sizeof(text), "h_vmem=%" PRIu64 "M",
                 (wish->memory_mb + wish->count - 1) / wish->count);
        add(words, "-l", text);
    }
    add(words, "-l", wish->texts[PLEAT_GRIDENGINE_RESOURCES]);
}

/* On no host of this list: "!(g1|g2)", as Grid Engine writes it. */
static void add_without(struct pleat_adapter_words *words, const char *list)
{
    static char text[PLEAT_ADAPTER_WITHOUT_MAX + sizeof("h=!()")]; /* one call at a time */
    if (!list)
        return;
    snprintf(text, sizeof(text), "h=!(%s)", list);
    for (char *at = text; *at; at++)
        if (*at == ',')
            *at = '|';
    add(words, "-l", text);
}

static void fill(struct pleat_adapter_words *words, const struct pleat_adapter_wish *wish,
                 const char *pe, bool only_verify)
{
    /* also what a user's or the cluster's defaults (sge_request) may say otherwise */
    static const char *const fixed[] = {
        "qsub", "-terse",    "-b", "y",         "-shell", "n", "-o",  "/dev/null",
        "-e",   "/dev/null", "-i", "/dev/null", "-j",     "n", "-wd", "/",
        "-r",   "n",         "-m", "n",         "-sync",  "n"};
    char name[PLEAT_ADAPTER_NAME_MAX + 1], count[16], near[300], on[300];
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        pleat_adapter_word(words, fixed[i]);
    pleat_gridengine_name_out(wish->name, name);
    snprintf(count, sizeof(count), "%" PRIu32, wish->count);
    snprintf(near, sizeof(near), "*@%s", wish->near ? wish->near : "");
    /* immediate jobs (-now y) run in interactive queues only: see has_room */
    add(words, "-now", "n");
    /* whether a job can ever start is found out with the loads of hosts left out, so a job that
     * wants such a load would be refused */
    add(words, "-w", only_verify ? "v" : wish->texts[PLEAT_GRIDENGINE_RESOURCES] ? "n" : "e");
    add(words, "-N", name);
    if (wish->few) /* others cannot leave a node, and might be ended by the notice itself */
        pleat_adapter_word(words, "-notify");
    add(words, "-pe", pe);
    pleat_adapter_word(words, count);
    add(words, "-q", wish->texts[PLEAT_GRIDENGINE_QUEUE]);
    add(words, "-P", wish->texts[PLEAT_GRIDENGINE_PROJECT]);
    add(words, "-A", wish->texts[PLEAT_GRIDENGINE_ACCOUNT]);
    add_limits(words, wish);
    if (wish->on) {
        snprintf(on, sizeof(on), "h=%s", wish->on);
        add(words, "-l", on);
    } else {
        add_without(words, wish->without); /* that is a request for hosts, too */
    }
    if (wish->near) {
        pleat_adapter_word(words, "-soft");
        add(words, "-q", near);
    }
    pleat_adapter_word(words, "/bin/sh");
    pleat_adapter_word(words, "-c");
    pleat_adapter_word(words, PLACEHOLDER);
    if (pleat_array_push(words, NULL))
        abort();
}

/* Whether it would be taken: qsub says so, and submits nothing. */
static int verify(const struct pleat_adapter_wish *wish, const char *pe, struct pleat_error *err)
{
    struct pleat_adapter_words words = {0};
    char *said;
    fill(&words, wish, pe, true);
    int failure = pleat_gridengine_ask((const char *const *)words.items, &said, err);
    pleat_adapter_words_finish(&words);
    if (!failure)
        free(said);
    return failure;
}

static int submit(const struct pleat_adapter_wish *wish, const char *pe, int64_t *number,
                  struct pleat_error *err)
{
    struct pleat_adapter_words words = {0};
    char *said;
    fill(&words, wish, pe, false);
    int failure = pleat_gridengine_ask((const char *const *)words.items, &said, err);
    pleat_adapter_words_finish(&words);
    if (failure)
        return failure;
    char *text = said + strspn(said, " ");
    text[strspn(text, "0123456789")] = '\0';
    if (!pleat_adapter_is_number(text, number) || *number < 1)
        failure = pleat_error_set(err, PLEAT_E_PROTOCOL, "qsub says no number of a job");
    free(said);
    return failure;
}

/* Submits in the first of these environments in which such a job can run. */
static int submit_in(const json_t *pes, bool several, const struct pleat_adapter_wish *wish,
                     int64_t *number, struct pleat_error *err)
{
    size_t i;
    const json_t *pe;
    int failure = PLEAT_E_INVALID;
    json_array_foreach(pes, i, pe)
    {
        failure = submit(wish, json_string_value(pe), number, err);
        if (failure != PLEAT_E_INVALID) {
            pleat_gridengine_pe_good(several, failure ? "" : json_string_value(pe));
            break;
        }
    }
    return failure;
}

/* Submits in an environment for jobs on one node, or on several. */
static int submit_so(bool several, const struct pleat_adapter_wish *wish, int64_t *number,
                     struct pleat_error *err)
{
    const char *wanted = wish->texts[several ? PLEAT_GRIDENGINE_PE_NODES : PLEAT_GRIDENGINE_PE];
    int failure = PLEAT_E_INVALID;
    for (int round = 0; failure == PLEAT_E_INVALID && round < (wanted ? 1 : 2); round++) {
        json_t *pes;
        failure = pleat_gridengine_pes(several, wanted, &pes, err);
        if (failure)
            break;
        failure = submit_in(pes, several, wish, number, err);
        json_decref(pes);
        if (failure == PLEAT_E_INVALID)
            pleat_gridengine_pe_good(several, ""); /* another environment may do */
    }
    return failure;
}

/* Whether the job is to be on several nodes, if it can be: not where one has room for it now. */
static int find_out(const struct pleat_adapter_wish *wish, bool *several, struct pleat_error *err)
{
    int64_t most = 0, all = 0;
    *several = wish->nodes == 0;
    if (!*several || !wish->few)
        return 0;
    int failure = pleat_gridengine_free(wish->texts[PLEAT_GRIDENGINE_QUEUE], &most, &all, err);
    *several = most < (int64_t)wish->count;
    return failure;
}

/* Refuses a job that is wanted now, if the queues have no room for it. If another job takes the
 * room at the same moment, this one waits. */
static int has_room(const struct pleat_adapter_wish *wish, bool several, struct pleat_error *err)
{
    int64_t most = 0, all = 0;
    if (!wish->now)
        return 0;
    int failure = pleat_gridengine_free(wish->texts[PLEAT_GRIDENGINE_QUEUE], &most, &all, err);
    if (failure)
        return failure;
    int64_t room = several ? all : most;
    return room >= (int64_t)wish->count
               ? 0
               : pleat_error_set(err, PLEAT_E_BUSY,
                                 "the queues have no room for it now: %d processors are free%s",
                                 (int)room, several ? "" : " on a node");
}

static int check(const struct pleat_adapter_wish *wish, struct pleat_error *err)
{
    if (wish->nodes > 1)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "Grid Engine gives one node, or as many as it takes");
    if (wish->exclusive || wish->count == 0)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "Grid Engine gives processors, not whole nodes");
    if (wish->near && strpbrk(wish->near, ",@*?[]|&!() "))
        return pleat_error_set(err, PLEAT_E_INVALID, "member 'near' is no name of a node");
    if (wish->on && strpbrk(wish->on, ",@*?[]|&!() "))
        return pleat_error_set(err, PLEAT_E_INVALID, "member 'on' is no name of a node");
    return 0;
}

static int op_allocate(const struct pleat_adapter_wish *wish, json_t **job, struct pleat_error *err)
{
    int64_t number = 0;
    bool several = false;
    int failure = check(wish, err);
    failure = failure ? failure : find_out(wish, &several, err);
    failure = failure ? failure : has_room(wish, several, err);
    failure = failure ? failure : submit_so(several, wish, &number, err);
    if (failure == PLEAT_E_INVALID && several) { /* no environment for that: one node may do */
        struct pleat_error other;
        if (!submit_so(false, wish, &number, &other))
            failure = 0;
    }
    if (failure)
        return failure;
    *job = json_pack("{sIsssssss[]}", "job", (json_int_t)number, "name", wish->name, "state",
                     "pending", "reason", "", "nodes");
    return *job ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
}

/* ---- the others ---- */

/* As "allocate" does before it submits: looks for an environment in which such a job can run.
 */
static int op_check(const struct pleat_adapter_wish *wish, struct pleat_error *err)
{
    json_t *pes;
    int failure = check(wish, err);
    failure = failure ? failure
                      : pleat_gridengine_pes(wish->nodes == 0, wish->texts[PLEAT_GRIDENGINE_PE],
                                             &pes, err);
    if (failure)
        return failure;
    size_t i;
    const json_t *pe;
    failure = PLEAT_E_INVALID;
    json_array_foreach(pes, i, pe)
    {
        if (failure == PLEAT_E_INVALID)
            failure = verify(wish, json_string_value(pe), err);
    }
    json_decref(pes);
    return failure;
}

static int op_release(uint32_t job, const char *name, struct pleat_error *err)
{
    bool has;
    char number[16], *said;
    int failure = pleat_gridengine_has_job(job, name, &has, err);
    if (failure)
        return failure;
    if (!has)
        return pleat_error_set(err, PLEAT_E_NOTFOUND,
                               "there is no job %" PRIu32 " '%s', or it is over", job, name);
    snprintf(number, sizeof(number), "%" PRIu32, job);
    const char *const argv[] = {"qdel", number, NULL};
    failure = pleat_gridengine_ask(argv, &said, err);
    if (!failure)
        free(said);
    return failure;
}

const struct pleat_adapter_ops pleat_gridengine_commands = {
    .name = "commands",
    .cluster = pleat_gridengine_cluster,
    .nodes = pleat_gridengine_nodes,
    .jobs = pleat_gridengine_jobs,
    .allocate = op_allocate,
    .check = op_check,
    .release = op_release,
};

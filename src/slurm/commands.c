/* The operations by Slurm's commands, which are there wherever Slurm is. An allocation that may
 * wait is a batch job that sleeps: sbatch returns at once, where salloc waits with a process of its
 * own. An allocation that is wanted now or never is asked for by salloc, since sbatch cannot do
 * that. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slurm/ask.h"
#include "slurm/ask_cluster.h"
#include "slurm/auth.h"
#include "slurm/system.h"
#include "wire/message.h"

enum { WORDS_MAX = 24, WORD_SIZE = 320 };

static const char sleeper[] = "#!/bin/sh\nexec sleep 2147483647\n";

static int nonsense(const char *command, const char *line, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_PROTOCOL, "%s says what makes no sense: '%.100s'", command,
                           line);
}

/* Divides a line at '|'; the last field has the rest of it. False: there are fewer fields. */
static bool divide(char *line, char *fields[], int count)
{
    for (int i = 0; i < count; i++) {
        fields[i] = line;
        if (i + 1 == count)
            return true;
        line = strchr(line, '|');
        if (!line)
            return false;
        *line++ = 0;
    }
    return true;
}

/* ---- jobs ---- */

static int count_ids(const char *ids)
{
    int count = 0;
    while (*ids >= '0' && *ids <= '9') {
        char *end;
        long first = strtol(ids, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (last < first || last - first > 65535)
            return 0;
        count += (int)(last - first) + 1;
        ids = *end == ',' ? end + 1 : end;
    }
    return count;
}

/* Gives the nodes in this list as many processors each. */
static void set_cpus(json_t *nodes, const char *list, int cpus)
{
    json_t *names = NULL, *node;
    size_t i, k;
    json_t *name;
    if (pleat_slurm_hostlist(list, &names, NULL))
        return;
    json_array_foreach(names, i, name)
    {
        json_array_foreach(nodes, k, node)
        {
            if (json_equal(json_object_get(node, "name"), name))
                json_object_set_new(node, "cpus", json_integer(cpus));
        }
    }
    json_decref(names);
}

/* Which processors a job has on each of several nodes, only scontrol tells. */
static int ask_cpus(const char *job, json_t *nodes, struct pleat_error *err)
{
    const char *const argv[] = {"scontrol", "-o", "-d", "show", "job", job, NULL};
    char *text, list[4096], ids[4096];
    int failure = pleat_slurm_ask(argv, NULL, &text, err);
    if (failure)
        return failure;
    for (char *at = text; (at = strstr(at, " Nodes=")) != NULL; at++) {
        const char *line = at + 1;
        size_t length = strcspn(line, " ");
        if (strncmp(line + length, " CPU_IDs=", strlen(" CPU_IDs=")) == 0)
            set_cpus(nodes, pleat_slurm_value(line, "Nodes", list, sizeof(list)),
                     count_ids(pleat_slurm_value(line, "CPU_IDs", ids, sizeof(ids))));
    }
    free(text);
    return 0;
}

static const char *job_state(const char *state)
{
    static const char *const waits[] = {"PENDING", "CONFIGURING", "REQUEUED"};
    static const char *const runs[] = {"RUNNING",  "SUSPENDED", "STOPPED",
                                       "RESIZING", "SIGNALING", "STAGE_OUT"};
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        if (!strcmp(state, waits[i]))
            return "pending";
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
        if (!strcmp(state, runs[i]))
            return "running";
    return strcmp(state, "COMPLETING") != 0 ? "ended" : "ending";
}

/* Its processes may still be there. */
static bool is_over(const char *state)
{
    return !strcmp(state, "ended") || !strcmp(state, "ending");
}

/* The nodes of a running job; PLEAT_E_PROTOCOL: the list is none. */
static int job_nodes(const char *job, const char *list, int64_t cpus, json_t **nodes,
                     struct pleat_error *err)
{
    json_t *names, *name;
    size_t i;
    int failure = pleat_slurm_hostlist(list, &names, err);
    if (failure)
        return failure;
    bool one = json_array_size(names) == 1;
    *nodes = json_array();
    json_array_foreach(names, i, name)
    {
        json_array_append_new(
            *nodes, json_pack("{sOsI}", "name", name, "cpus", (json_int_t)(one ? cpus : 0)));
    }
    json_decref(names);
    return one ? 0 : ask_cpus(job, *nodes, err);
}

enum { F_JOB, F_STATE, F_REASON, F_START, F_END, F_CPUS, F_NODES, F_NAME, F_COUNT };

static int add_job(char *line, json_t *jobs, struct pleat_error *err)
{
    char copy[256], *fields[F_COUNT];
    int64_t job, cpus, time;
    snprintf(copy, sizeof(copy), "%s", line);
    if (!divide(line, fields, F_COUNT) || !pleat_adapter_is_number(fields[F_CPUS], &cpus))
        return nonsense("squeue", copy, err);
    if (!pleat_adapter_is_number(fields[F_JOB], &job) || job > PLEAT_SLURM_JOB_MAX)
        return 0; /* part of an array of jobs, for one: not ours */
    const char *state = job_state(fields[F_STATE]);
    bool runs = !strcmp(state, "running");
    json_t *nodes = NULL;
    bool ending = !strcmp(state, "ending");
    int failure = runs ? job_nodes(fields[F_JOB], fields[F_NODES], cpus, &nodes, err) : 0;
    if (ending && job_nodes(fields[F_JOB], fields[F_NODES], cpus, &nodes, NULL)) {
        json_decref(nodes); /* it has left some of them already, or all */
        nodes = NULL;
    }
    if (failure) {
        json_decref(nodes);
        return failure;
    }
    json_t *object = json_object();
    const char *reason = is_over(state) ? fields[F_STATE] : fields[F_REASON];
    json_object_set_new(object, "job", json_integer(job));
    json_object_set_new(object, "name", pleat_json_text(fields[F_NAME]));
    json_object_set_new(object, "state", json_string(state));
    json_object_set_new(object, "reason", pleat_json_text(runs ? "" : reason));
    json_object_set_new(object, "nodes", nodes ? nodes : json_array());
    if (pleat_adapter_is_number(fields[F_START], &time))
        json_object_set_new(object, "start", json_integer(time));
    if ((runs || ending) && pleat_adapter_is_number(fields[F_END], &time))
        json_object_set_new(object, "end", json_integer(time));
    return json_array_append_new(jobs, object) ? pleat_slurm_no_memory(err) : 0;
}

/* name: only jobs of this name; NULL: all. */
static int ask_jobs(const char *name, json_t **jobs, struct pleat_error *err)
{
    char user[32], *text;
    snprintf(user, sizeof(user), "%u", (unsigned)getuid());
    const char *const argv[] = {
        "squeue",           "-h", "-t", "all", "-u", user, "-o", "%i|%T|%r|%S|%e|%C|%N|%j",
        name ? "-n" : NULL, name, NULL};
    int failure = pleat_slurm_ask(argv, NULL, &text, err);
    if (failure)
        return failure;
    *jobs = json_array();
    char *rest = text;
    for (char *line = strsep(&rest, "\n"); line && !failure; line = strsep(&rest, "\n"))
        if (line[0])
            failure = add_job(line, *jobs, err);
    free(text);
    if (failure) {
        json_decref(*jobs);
        *jobs = NULL;
    }
    return failure;
}

static int op_jobs(json_t **jobs, struct pleat_error *err)
{
    return ask_jobs(NULL, jobs, err);
}

/* ---- allocating ---- */

struct words {
    const char *argv[WORDS_MAX + 1];
    char text[WORDS_MAX][WORD_SIZE];
    char without[PLEAT_ADAPTER_WITHOUT_MAX + sizeof("--exclude=")]; /* longer than the others */
    int count;
};

static void add(struct words *words, const char *option, const char *value)
{
    if (!value)
        return;
    snprintf(words->text[words->count], WORD_SIZE, "%s%s", option, value);
    words->argv[words->count] = words->text[words->count];
    words->argv[++words->count] = NULL;
}

static void add_number(struct words *words, const char *option, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, number);
    if (number)
        add(words, option, text);
}

/* The command and its own options; the list ends with NULL. */
static const char *const waiting[] = {"sbatch",
                                      "--parsable",
                                      "--no-requeue",
                                      "--input=/dev/null",
                                      "--output=/dev/null",
                                      "--error=/dev/null",
                                      "--chdir=/",
                                      NULL};
static const char *const at_once[] = {"salloc",        "--no-shell", "--no-bell",
                                      "--immediate=1", "--chdir=/",  NULL};

static void fill(struct words *words, const char *const *fixed,
                 const struct pleat_adapter_wish *wish)
{
    for (; *fixed; fixed++)
        add(words, *fixed, "");
    add(words, "--job-name=", wish->name);
    add(words, "--partition=", wish->texts[PLEAT_SLURM_PARTITION]);
    add(words, "--account=", wish->texts[PLEAT_SLURM_ACCOUNT]);
    add(words, "--qos=", wish->texts[PLEAT_SLURM_QOS]);
    add(words, "--constraint=", wish->texts[PLEAT_SLURM_CONSTRAINT]);
    add(words, "--reservation=", wish->texts[PLEAT_SLURM_RESERVATION]);
    add(words, "--nodelist=", wish->on);
    add_number(words, "--ntasks=", wish->count);
    add_number(words, "--nodes=", wish->nodes);
    add_number(words, "--time=", wish->minutes);
    add_number(words, "--mem=", wish->memory_mb);
    if (wish->exclusive)
        add(words, "--exclusive", "");
    if (wish->without) {
        snprintf(words->without, sizeof(words->without), "--exclude=%s", wish->without);
        words->argv[words->count++] = words->without;
        words->argv[words->count] = NULL;
    }
}

/* Finds the job that salloc was given, by its name, which no other job has, but those of attempts
 * before it that were given nothing: Slurm remembers these for a while. */
static int find_given(const char *name, json_t **job, struct pleat_error *err)
{
    json_t *jobs, *given = NULL;
    const json_t *each;
    size_t i;
    int failure = ask_jobs(name, &jobs, err);
    if (failure) /* it may be there */
        return pleat_error_prefix(err, PLEAT_E_CLOSED, "an allocation was given");
    json_array_foreach(jobs, i, each)
    {
        if (!given || !is_over(json_string_value(json_object_get(each, "state"))))
            given = json_array_get(jobs, i);
    }
    *job = json_incref(given);
    json_decref(jobs);
    return *job ? 0
                : pleat_error_set(err, PLEAT_E_PROTOCOL, "squeue does not know the job of salloc");
}

/* Now or never. on_one: on one node; near: on that one. */
static int allocate_now(const struct pleat_adapter_wish *wish, bool on_one, const char *near,
                        json_t **job, struct pleat_error *err)
{
    struct pleat_adapter_wish own = *wish;
    struct words words = {0};
    char *text;
    own.nodes = on_one ? 1 : wish->nodes;
    fill(&words, at_once, &own);
    add(&words, "--nodelist=", near);
    int failure = pleat_slurm_ask(words.argv, NULL, &text, err);
    if (failure)
        return failure;
    free(text);
    return find_given(wish->name, job, err);
}

static int allocate_later(const struct pleat_adapter_wish *wish, json_t **job,
                          struct pleat_error *err)
{
    struct words words = {0};
    char *text, *end = NULL;
    fill(&words, waiting, wish);
    int failure = pleat_slurm_ask(words.argv, sleeper, &text, err);
    if (failure)
        return failure;
    /* "NUMBER" or "NUMBER;CLUSTER" */
    unsigned long number = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    if (!number || number > PLEAT_SLURM_JOB_MAX || !strchr("\n;", *end)) {
        failure = nonsense("sbatch", text, err);
        free(text);
        return failure;
    }
    free(text);
    *job = json_pack("{sIsssssss[]}", "job", (json_int_t)number, "name", wish->name, "state",
                     "pending", "reason", "", "nodes");
    return *job ? 0 : pleat_slurm_no_memory(err);
}

/* Allocates near the wished node, or else on one node, if that can be had now; otherwise as
 * wished. */
static int op_allocate(const struct pleat_adapter_wish *wish, json_t **job, struct pleat_error *err)
{
    int failure = PLEAT_E_BUSY;
    bool may_be_one = wish->nodes <= 1;
    if (may_be_one && wish->near)
        failure = allocate_now(wish, true, wish->near, job, err);
    if (failure && failure != PLEAT_E_CLOSED && may_be_one && wish->few)
        failure = allocate_now(wish, true, NULL, job, err);
    if (!failure || failure == PLEAT_E_CLOSED)
        return failure;
    return wish->now ? allocate_now(wish, false, NULL, job, err) : allocate_later(wish, job, err);
}

static int op_check(const struct pleat_adapter_wish *wish, struct pleat_error *err)
{
    struct words words = {0};
    char *text;
    fill(&words, waiting, wish);
    add(&words, "--test-only", "");
    int failure = pleat_slurm_ask(words.argv, sleeper, &text, err);
    if (!failure)
        free(text);
    return failure;
}

/* Whether there is such a job of this user, by its number and its name; named: room for an option.
 */
static int find_ours(uint32_t job, const char *name, char named[WORD_SIZE], struct pleat_error *err)
{
    char number[32], user[48], *text;
    snprintf(number, sizeof(number), "%" PRIu32, job);
    snprintf(user, sizeof(user), "--user=%u", (unsigned)getuid());
    snprintf(named, WORD_SIZE, "--name=%s", name);
    const char *const look[] = {"squeue", "-h", "-j", number, user, named, "-o", "%i|%T|%j", NULL};
    int failure = pleat_slurm_ask(look, NULL, &text, err);
    if (failure)
        return failure;
    char *fields[3];
    text[strcspn(text, "\n")] = 0;
    bool ours = divide(text, fields, 3) && !strcmp(fields[0], number) && !strcmp(fields[2], name) &&
                !is_over(job_state(fields[1]));
    free(text);
    return ours ? 0
                : pleat_error_set(err, PLEAT_E_NOTFOUND,
                                  "there is no job %" PRIu32 " '%s', or it is over", job, name);
}

static int op_release(uint32_t job, const char *name, struct pleat_error *err)
{
    char number[32], named[WORD_SIZE], *text;
    int failure = find_ours(job, name, named, err);
    if (failure)
        return failure;
    snprintf(number, sizeof(number), "%" PRIu32, job);
    const char *const cancel[] = {"scancel", named, number, NULL};
    failure = pleat_slurm_ask(cancel, NULL, &text, err);
    if (!failure)
        free(text);
    return failure;
}

static int op_keep(uint32_t job, const char *name, const char *nodes, struct pleat_error *err)
{
    char number[40], named[WORD_SIZE], kept[PLEAT_ADAPTER_WITHOUT_MAX + 16], *text;
    int failure = find_ours(job, name, named, err);
    if (failure)
        return failure;
    snprintf(number, sizeof(number), "JobId=%" PRIu32, job);
    snprintf(kept, sizeof(kept), "NodeList=%s", nodes);
    const char *const update[] = {"scontrol", "update", number, kept, NULL};
    failure = pleat_slurm_ask(update, NULL, &text, err);
    if (!failure)
        free(text);
    return failure;
}

static int op_seal(const char *secret, char **sealed, struct pleat_error *err)
{
    return pleat_slurm_auth_seal(pleat_slurm_ask_cluster, secret, sealed, err);
}

const struct pleat_adapter_ops pleat_slurm_commands = {
    .name = "commands",
    .cluster = pleat_slurm_ask_cluster,
    .nodes = pleat_slurm_ask_nodes,
    .jobs = op_jobs,
    .allocate = op_allocate,
    .check = op_check,
    .release = op_release,
    .keep = op_keep,
    .seal = op_seal,
};

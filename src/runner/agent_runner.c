#include "runner/agent_runner.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/remote.h"
#include "launch/fold.h"
#include "launch/launch.h"
#include "launch/library.h"
#include "launch/pmi.h"
#include "wire/message.h"

#define GRACE_S ((double)PLEAT_END_GRACE_S)
/* How long new processes may take to come up beside the old ones. From then on a program that takes
 * longer is ended first. */
#define WARM_S 30.0

struct agent_runner {
    struct pleat_runner base;
    const struct pleat_runner_kind *kind;
};

static bool starts(const struct agent_runner *runner, enum pleat_runner_start how)
{
    return runner->kind->starts & how;
}

/* A list of strings as a JSON array; NULL when out of memory. */
static json_t *json_strings(char *const *list)
{
    json_t *array = json_array();
    for (; array && list && *list; list++) {
        json_t *item = json_string(*list);
        if (!item) /* the text is not UTF-8, which the wire cannot carry */
            item = json_string("");
        if (json_array_append_new(array, item)) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static void free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

/* The spec's argv, with order->program as the first word if there is one, and with the number of
 * processes in the place of the word that stands for it. NULL: out of memory. */
static char **words_of(const struct pleat_run_order *order)
{
    char **argv = order->spec->argv;
    const char *number = order->spec->folds ? order->spec->fold.count_word : NULL;
    size_t count = 0;
    while (argv[count])
        count++;
    char **words = calloc(count + 1, sizeof(*words));
    for (size_t i = 0; words && i < count; i++) {
        const char *word = i == 0 && order->program ? order->program : argv[i];
        words[i] = number ? pleat_spec_put_number(word, number, order->processes) : strdup(word);
        if (!words[i]) {
            free_words(words);
            return NULL;
        }
    }
    return words;
}

struct paths {
    char preload[PATH_MAX], pmi[PATH_MAX], loopback[PATH_MAX], remote[PATH_MAX], farewell[PATH_MAX];
    char early[PATH_MAX];
    struct pleat_launch_node *nodes;
};

/* On several nodes. */
static int launch_on_nodes(const struct pleat_run_order *order,
                           struct pleat_launch_request *request, struct paths *paths,
                           struct pleat_error *err)
{
    paths->nodes = calloc(order->node_count, sizeof(*paths->nodes));
    if (!paths->nodes)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (size_t i = 0; i < order->node_count; i++)
        paths->nodes[i] =
            (struct pleat_launch_node){order->nodes[i].name, (uint32_t)order->nodes[i].processes};
    request->nodes = paths->nodes;
    request->node_count = order->node_count;
    request->one_machine = order->one_machine;
    request->interface = order->interface && *order->interface ? order->interface : NULL;
    request->network = order->network && *order->network ? order->network : NULL;
    request->fabric = order->fabric;
    request->hook = paths->remote;
    return pleat_launch_remote(paths->remote, sizeof(paths->remote), err);
}

/* Without the library, which is there where Open MPI's PMIx was at Pleat's making, it is started
 * all the same. */
static int find_early(struct pleat_launch_request *request, struct paths *paths,
                      struct pleat_error *err)
{
    int rc = pleat_launch_library("libpleat-early.so", paths->early, sizeof(paths->early), err);
    request->early = rc ? NULL : paths->early;
    return rc == PLEAT_E_NOTFOUND ? 0 : rc;
}

/* Completes a request for a program that an MPI launcher starts: which MPI, how many processes,
 * what is preloaded into them. The paths in the request point into *paths. */
static int launch_by_mpi(const struct agent_runner *runner, const struct pleat_run_order *order,
                         struct pleat_launch_request *request, struct paths *paths,
                         struct pleat_error *err)
{
    int rc = pleat_mpi_parse(order->spec->mpi, &request->mpi, err);
    if (rc || request->mpi == PLEAT_MPI_NONE)
        return rc;
    request->processes = (uint32_t)pleat_spec_tasks(order->spec, order->processes);
    request->cpus_per_task = (uint32_t)order->spec->cpus_per_task;
    request->terminal = order->terminal_far ? PLEAT_TERMINAL_ENV : order->spec->terminal;
    request->apart = order->nodes_apart;
    if (request->mpi == PLEAT_MPI_MPICH || request->cpus_per_task || request->terminal ||
        request->apart) {
        request->pmi = paths->pmi;
        rc = pleat_launch_pmi(paths->pmi, sizeof(paths->pmi), err);
    }
    if (!rc && order->node_count)
        rc = launch_on_nodes(order, request, paths, err);
    if (!rc && (request->mpi == PLEAT_MPI_OPENMPI || order->node_count)) {
        request->loopback = paths->loopback;
        rc = pleat_launch_loopback(paths->loopback, sizeof(paths->loopback), err);
    }
    if (!rc && request->mpi == PLEAT_MPI_MPICH && order->node_count && !order->one_machine) {
        request->farewell = paths->farewell;
        rc = pleat_launch_library("libpleat-farewell.so", paths->farewell, sizeof(paths->farewell),
                                  err);
    }
    if (!rc && request->mpi == PLEAT_MPI_OPENMPI && order->node_count)
        rc = find_early(request, paths, err);
    if (rc || !starts(runner, PLEAT_STARTS_FOLDED))
        return rc;
    request->preload = paths->preload;
    return pleat_launch_fold_library(request->mpi, paths->preload, sizeof(paths->preload), err);
}

static int compose(const struct agent_runner *runner, const struct pleat_run_order *order,
                   struct pleat_launch_command *command, struct pleat_error *err)
{
    const struct pleat_spec *spec = order->spec;
    struct pleat_launch_request request = {
        .mpi = PLEAT_MPI_NONE,
        .processes = 1,
        .env = (const char *const *)spec->env,
        .is_root = geteuid() == 0,
        /* the job, or one beside it, may grow or fold later: waiting processes must yield */
        .oversubscribed = true,
        .scratch = order->scratch,
    };
    struct paths paths = {.nodes = NULL};
    int rc = starts(runner, PLEAT_STARTS_LAUNCHED)
                 ? launch_by_mpi(runner, order, &request, &paths, err)
                 : 0;
    char **words = rc ? NULL : words_of(order);
    if (!rc && !words)
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    request.argv = (const char *const *)words;
    if (!rc)
        rc = pleat_launch_compose(&request, command, err);
    free_words(words);
    free(paths.nodes);
    return rc;
}

/* Whether the run's main process is a script, or something else that is not itself resized, and
 * starts its programs with `pleat launch`. */
static bool starts_others(const struct agent_runner *runner, const struct pleat_spec *spec)
{
    enum pleat_mpi mpi;
    return starts(runner, PLEAT_STARTS_MAILBOX) &&
           (spec->script || pleat_mpi_parse(spec->mpi, &mpi, NULL) || mpi == PLEAT_MPI_NONE);
}

/* Whether the agent makes a scratch directory for the run. A script gets one, too, since it may
 * launch MPI programs itself. */
static bool has_scratch(const struct agent_runner *runner, const struct pleat_run_order *order)
{
    return order->scratch && (order->apart || starts(runner, PLEAT_STARTS_LAUNCHED) ||
                              starts(runner, PLEAT_STARTS_EVOLVING) || order->spec->script);
}

/* Adds a member, taking `value`. PLEAT_E_NOMEM: `value` is NULL, as when memory was short. */
static int add(json_t *object, const char *name, json_t *value)
{
    return object && value ? json_object_set_new(object, name, value)
                           : (json_decref(value), PLEAT_E_NOMEM);
}

/* Adds members "argv" and "env": what is executed, and its environment. */
static int add_command(const struct agent_runner *runner, const struct pleat_run_order *order,
                       json_t *params, struct pleat_error *err)
{
    struct pleat_launch_command command = {0};
    int rc = compose(runner, order, &command, err);
    if (rc)
        return rc;
    json_t *env = pleat_job_environment(order, command.env, has_scratch(runner, order));
    int bad = add(params, "env", env);
    bad = add(params, "argv", json_strings(command.argv)) || bad;
    pleat_launch_command_finish(&command);
    return bad ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory") : 0;
}

/* Sends a request, and steals params. rc: an earlier error, which is returned instead. */
static int send(struct pleat_runner *base, uint32_t site, uint32_t node, const char *method,
                json_t *params, int rc, struct pleat_error *err)
{
    if (!rc && !params)
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (!rc)
        return base->agents->send(base->agents->arg, site, node, method, params, err);
    json_decref(params);
    return rc;
}

/* Adds the run's "slots", if it is bound to CPUs. 0 if params is NULL: `send` reports that. */
static int add_slots(json_t *params, const struct pleat_run_order *order)
{
    if (!params || !order || order->slot_ranges == 0)
        return 0;
    json_t *slots = json_array();
    int bad = 0;
    for (size_t i = 0; i < order->slot_ranges; i++)
        bad |= json_array_append_new(slots, json_pack("{s:I, s:I}", "first",
                                                      (json_int_t)order->slots[i].first, "count",
                                                      (json_int_t)order->slots[i].count));
    for (size_t i = 0; i < order->more_count; i++)
        bad |= json_array_append_new(slots, json_pack("{s:i}", "cpu", (int)order->more_cpus[i]));
    if (bad)
        slots = (json_decref(slots), NULL);
    return add(params, "slots", slots);
}

/* Adds a member "nodes", by which the agent knows what the launcher means. */
static int add_nodes(json_t *params, const struct pleat_run_order *order)
{
    json_t *nodes = json_array();
    for (size_t i = 0; nodes && i < order->node_count; i++) {
        if (json_array_append_new(nodes, json_pack("{s:s, s:I}", "name", order->nodes[i].name,
                                                   "node", (json_int_t)order->nodes[i].node))) {
            json_decref(nodes);
            nodes = NULL;
        }
    }
    return add(params, "nodes", nodes);
}

/* Adds a member "fold": what the agent has to know about a folded run. */
static int add_fold(const struct pleat_run_order *order, json_t *params, struct pleat_error *err)
{
    json_t *member = pleat_runner_fold(
        order->spec, order->node_count ? order->nodes[0].processes : order->processes, err);
    if (!member)
        return err->code;
    return add(params, "fold", member) ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory") : 0;
}

/* Adds members by which a run goes on where a part of it was. */
static int add_before(json_t *params, const struct pleat_run_order *order)
{
    return add(params, "before", json_integer((json_int_t)order->before)) ||
           add(params, "last_part", json_integer((json_int_t)order->last_part)) ||
           add(params, "resize", json_integer((json_int_t)order->resize)) ||
           add(params, "from", json_integer(order->from_processors)) ||
           add(params, "to", json_integer(order->processors)) ||
           (order->occasion &&
            add(params, "occasion", json_string(pleat_occasion_name(order->occasion))));
}

static int runner_start(struct pleat_runner *base, const struct pleat_run_order *order,
                        struct pleat_error *err)
{
    struct agent_runner *runner = (struct agent_runner *)base;
    char job[32];
    snprintf(job, sizeof(job), "%llu", (unsigned long long)order->job);
    /* rank 0 has the terminal; the output of the others is shown there, too */
    const char *shown = starts(runner, PLEAT_STARTS_LAUNCHED) && !order->terminal_far
                            ? order->spec->terminal
                            : NULL;
    json_t *params = json_pack(
        "{s:I, s:s, s:s, s:s, s:s, s:b, s:i, s:s*, s:i, s:s*, s:s*}", "run", (json_int_t)order->run,
        "job", job, "cwd", order->apart ? order->scratch : order->spec->cwd, "stdout",
        shown ? shown : order->stdout_path, "stderr", shown ? shown : order->stderr_path,
        "truncate", order->truncate, "umask", order->spec->umask, "stdin",
        order->stdin_sent ? NULL : order->stdin_path, "mailbox_ranks",
        starts(runner, PLEAT_STARTS_MAILBOX) ? order->most : 0, "scratch",
        has_scratch(runner, order) ? order->scratch : NULL, "limits", order->spec->limits);
    if (params && (order->apart || order->terminal_far))
        json_object_set_new(params, "output_sent", json_true());
    if (params && order->terminal_far)
        json_object_set_new(params, "window",
                            json_pack("{s:i, s:i, s:b}", "rows", order->rows, "columns",
                                      order->columns, "rank",
                                      starts(runner, PLEAT_STARTS_LAUNCHED)));
    if (params && order->apart && order->program) {
        json_object_set_new(params, "file", json_string(strrchr(order->program, '/') + 1));
        json_object_set_new(params, "text", json_string(order->spec->script));
    }
    if (params && order->stdin_sent)
        json_object_set_new(params, "stdin_sent", json_true());
    if (params && order->spec->nice != PLEAT_SPEC_NICE_HERE)
        json_object_set_new(params, "nice", json_integer(order->spec->nice));
    if (params && order->spec->memory_limit_kb)
        json_object_set_new(params, "memory_limit_kb", json_integer(order->spec->memory_limit_kb));
    if (params && order->spec->cpus_per_task > 0)
        json_object_set_new(params, "cpus_per_task", json_integer(order->spec->cpus_per_task));
    if (params && order->spec->terminal && !order->terminal_far && !shown)
        json_object_set_new(params, "terminal", json_string(order->spec->terminal));
    int rc = add_command(runner, order, params, err);
    bool bad = params && starts_others(runner, order->spec) &&
               (add(params, "launches", json_integer(order->processes)) ||
                add(params, "adapts", json_boolean(order->spec->resize == PLEAT_WAY_AUTO)));
    bad = bad || (params && order->spec->script && has_scratch(runner, order) &&
                  add(params, "hosts", json_integer(order->processes)));
    bad = bad || (params && order->node_count &&
                  (add_nodes(params, order) ||
                   add(params, "places", json_integer((json_int_t)order->node_count))));
    bad = bad || (params && order->before && add_before(params, order));
    if ((add_slots(params, order) || bad) && !rc)
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (!rc && starts(runner, PLEAT_STARTS_FOLDED))
        rc = add_fold(order, params, err);
    if (!rc && starts(runner, PLEAT_STARTS_EVOLVING))
        rc = pleat_runner_add_processes(order, params, err);
    return send(base, order->site, order->node, "start", params, rc, err);
}

/* The size to report: of a folded run its number of processors, else its number of processes. */
static int32_t aim_of(const struct pleat_change_order *order)
{
    return order->start && order->start->spec->folds ? order->processors : order->processes;
}

static json_t *change_params(const struct pleat_change_order *order, const char *size_name)
{
    return json_pack("{s:I, s:I, s:i, s:b, s:s*}", "run", (json_int_t)order->run, "resize",
                     (json_int_t)order->resize, size_name, aim_of(order), "mandatory",
                     order->mandatory, "occasion",
                     order->occasion ? pleat_occasion_name(order->occasion) : NULL);
}

static int send_change(struct pleat_runner *base, const struct pleat_change_order *order,
                       const char *method, const char *size_name, struct pleat_error *err)
{
    return send(base, order->site, order->node, method, change_params(order, size_name), 0, err);
}

static int runner_ask(struct pleat_runner *base, const struct pleat_change_order *order,
                      struct pleat_error *err)
{
    return send_change(base, order, "ask", "offered", err);
}

/* Whether the job changes its size by a relaunch. */
static bool is_relaunched(const struct pleat_spec *spec)
{
    enum pleat_mpi mpi;
    if (spec->resize == PLEAT_WAY_AUTO)
        return !pleat_mpi_parse(spec->mpi, &mpi, NULL) && !pleat_mpi_spawns(mpi);
    return spec->resize == PLEAT_WAY_RELAUNCH || spec->resize == PLEAT_WAY_RESTART;
}

bool pleat_runner_chooses_way(const struct pleat_spec *spec)
{
    enum pleat_mpi mpi;
    const struct pleat_runner_kind *kind =
        spec->runner ? pleat_runner_kind_find(spec->runner) : NULL;
    return kind && kind->capabilities & PLEAT_RUNNER_RELAUNCHES && spec->resize == PLEAT_WAY_AUTO &&
           !spec->folds && !spec->once && !spec->script && !spec->input && !spec->terminal &&
           !pleat_mpi_parse(spec->mpi, &mpi, NULL) && pleat_mpi_spawns(mpi);
}

/* The run leaves its node: the agent there starts nothing. */
static int resize_away(struct pleat_runner *base, const struct pleat_change_order *order,
                       json_t *params, struct pleat_error *err)
{
    json_t *how = json_pack("{s:b}", "moves", 1);
    int rc = 0, bad = add_nodes(how, order->start);
    if (add(params, "relaunch", how) || bad)
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return send(base, order->site, order->node, "resize", params, rc, err);
}

static int runner_resize(struct pleat_runner *base, const struct pleat_change_order *order,
                         struct pleat_error *err)
{
    struct agent_runner *runner = (struct agent_runner *)base;
    json_t *params = change_params(order, "target");
    if (order->moves)
        return resize_away(base, order, params, err);
    int rc = 0, bad = add_slots(params, order->start);
    bool always = order->start && (order->spread || is_relaunched(order->start->spec));
    bool anew = order->start && order->anew && !starts_others(runner, order->start->spec);
    if (always || anew || (order->start && order->way == PLEAT_WAY_RELAUNCH)) {
        json_t *how = json_object();
        rc = add_command(runner, order->start, how, err);
        bad = bad || (order->start->node_count && add_nodes(how, order->start));
        if (order->start->spec->resize != PLEAT_WAY_RESTART && !anew &&
            (!order->spread || order->warm))
            bad = add(how, "warm_s", json_real(WARM_S)) || bad;
        if (!always && !anew)
            bad = add(how, "or_merge", json_true()) || bad;
        bad = add(params, "relaunch", how) || bad;
    }
    if (bad && !rc)
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return send(base, order->site, order->node, "resize", params, rc, err);
}

static int runner_relaunch(struct pleat_runner *base, const struct pleat_change_order *order,
                           struct pleat_error *err)
{
    struct agent_runner *runner = (struct agent_runner *)base;
    json_t *params =
        json_pack("{s:I, s:I, s:i, s:f}", "run", (json_int_t)order->run, "resize",
                  (json_int_t)order->resize, "processes", order->processes, "grace_s", GRACE_S);
    int rc = add_command(runner, order->start, params, err);
    bool bad = params && order->start->node_count && add_nodes(params, order->start);
    if ((add_slots(params, order->start) || bad) && !rc)
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return send(base, order->site, order->node, "relaunch", params, rc, err);
}

static int runner_withdraw(struct pleat_runner *base, const struct pleat_change_order *order,
                           struct pleat_error *err)
{
    return send_change(base, order, "withdraw", "target", err);
}

static int runner_kill(struct pleat_runner *base, const struct pleat_run_order *order,
                       struct pleat_error *err)
{
    json_t *params = json_pack("{s:I, s:f}", "run", (json_int_t)order->run, "grace_s",
                               order->at_once ? 0.0 : GRACE_S);
    if (!params)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return base->agents->send(base->agents->arg, order->site, order->node, "kill", params, err);
}

/* A signal for a script alone goes to the main process, else to all processes but the script. */
static int runner_signal(struct pleat_runner *base, const struct pleat_run_order *order,
                         int32_t number, bool script_only, struct pleat_error *err)
{
    const char *to = script_only ? "main" : order->spec->script ? "others" : "all";
    json_t *params =
        json_pack("{s:I, s:i, s:s}", "run", (json_int_t)order->run, "signal", number, "to", to);
    return send(base, order->site, order->node, "limit_signal", params, 0, err);
}

static void runner_close(struct pleat_runner *base)
{
    free(base);
}

int pleat_runner_open(const char *name, const struct pleat_host *host,
                      const struct pleat_agent_link *agents, struct pleat_runner **out,
                      struct pleat_error *err)
{
    static struct pleat_runner_ops ops[PLEAT_RUNNER_KIND_COUNT];
    const struct pleat_runner_kind *kind = pleat_runner_kind_find(name);
    if (!kind)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "no runner is called '%s'", name);
    size_t index = (size_t)(kind - pleat_runner_kinds);
    struct agent_runner *runner = calloc(1, sizeof(*runner));
    if (!runner)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    ops[index] = (struct pleat_runner_ops){
        .name = kind->name,
        .capabilities = kind->capabilities,
        .start = runner_start,
        .ask = runner_ask,
        .resize = runner_resize,
        .withdraw = runner_withdraw,
        .kill = runner_kill,
        .signal = runner_signal,
        .relaunch = kind->capabilities & PLEAT_RUNNER_RELAUNCHES ? runner_relaunch : NULL,
        .notice = pleat_agent_notice,
        .close = runner_close,
    };
    runner->base.ops = &ops[index];
    runner->base.host = host;
    runner->base.agents = agents;
    runner->kind = kind;
    *out = &runner->base;
    return 0;
}

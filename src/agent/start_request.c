/* start_request.c - reads the request `start`. */
#include "agent/start_request.h"

#include <inttypes.h>
#include <string.h>

#include "agent/params.h"
#include "agent/process.h"
#include "wire/message.h"

/* Time for processes to end after the main process. Ranks may still be in MPI_Finalize when mpirun
 * ends; what other programs leave behind is rarely wanted. */
#define LINGER_MALLEABLE_S 2.0
#define LINGER_S 0.25
#define THRESHOLD 0.10 /* idleness above which a folded run is imbalanced (Utrera 2010, 4.4.4) */

static int get_path(const json_t *params, const char *name, const char **path,
                    struct pleat_error *err)
{
    int result = pleat_get_string(params, name, true, path, err);
    if (!result && **path != '/')
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s' must be an absolute path, not '%.80s'",
                               name, *path);
    return result;
}

/* The directory will be removed with its content: so its name must begin with "pleat-", lest a
 * mistake name a user's own directory. */
static int get_scratch(const json_t *params, const char **path, struct pleat_error *err)
{
    int result = get_path(params, "scratch", path, err);
    if (!result && strncmp(strrchr(*path, '/'), "/pleat-", strlen("/pleat-")) != 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'scratch' must be a directory whose name begins with 'pleat-', not "
                               "'%.80s'",
                               *path);
    return result;
}

static int read_threshold(const json_t *fold, double *threshold, struct pleat_error *err)
{
    *threshold = THRESHOLD;
    int result = pleat_get_real(fold, "threshold", false, threshold, err);
    if (!result && !(*threshold > 0 && *threshold < 1))
        result = pleat_error_set(err, PLEAT_E_INVALID,
                                 "'threshold' is an idleness: above 0 and below 1");
    return result;
}

static int read_first_queue(const json_t *fold, enum pleat_fold_queue *queue,
                            struct pleat_error *err)
{
    const char *name = "global";
    int result = pleat_get_string(fold, "begin", false, &name, err);
    if (result)
        return result;
    bool local = !strcmp(name, "local");
    if (!local && strcmp(name, "global") != 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'begin' is the queue until a program has been judged: \"local\" or "
                               "\"global\", not '%s'",
                               name);
    *queue = local ? PLEAT_FOLD_QUEUE_LOCAL : PLEAT_FOLD_QUEUE_GLOBAL;
    return 0;
}

/* Reads how the run is folded, if it is. */
static int read_fold(const json_t *params, struct pleat_folded_request *folded,
                     struct pleat_error *err)
{
    const json_t *fold = json_object_get(params, "fold");
    struct pleat_fold_settings settings = {0};
    const char *mapping = NULL;
    int64_t processes = 0;
    if (!fold || json_is_null(fold))
        return 0;
    int result =
        pleat_get_int(fold, "processes", true, 1, PLEAT_FOLD_PROCESSES_MAX, &processes, err);
    folded->processes = (uint32_t)processes;
    if (!result)
        result = pleat_get_string(fold, "settings", false, &folded->settings, err);
    if (!result && folded->settings)
        result = pleat_fold_settings_parse(folded->settings, &settings, err);
    if (!result)
        result = pleat_get_string(fold, "mapping", false, &mapping, err);
    if (!result && mapping)
        result = pleat_mapping_parse(mapping, &folded->mapping, err);
    if (!result)
        result = read_first_queue(fold, &folded->begin, err);
    if (!result)
        result = pleat_get_bool(fold, "boost", false, &folded->boost, err);
    return result ? result : read_threshold(fold, &folded->threshold, err);
}

static int read_process(const json_t *params, struct pleat_run_request *request,
                        struct pleat_limits *limits, struct pleat_error *err)
{
    const char *text = NULL;
    int64_t nice = PLEAT_PROCESS_NICE_HERE;
    int result = pleat_get_string(params, "limits", false, &text, err);
    if (!result && text)
        result = pleat_limits_parse(text, limits, err);
    if (!result && json_object_get(params, "nice"))
        result = pleat_get_int(params, "nice", true, -20, 19, &nice, err);
    if (!result)
        result = pleat_get_int(params, "memory_limit_kb", false, 0, INT64_MAX / 1024,
                               &request->memory_kb, err);
    request->limits = text ? limits : NULL;
    request->nice = (int32_t)nice;
    return result;
}

/* Reads which node of the run this is, where the run has several. */
static int read_place(const json_t *params, struct pleat_run_request *request,
                      struct pleat_error *err)
{
    int64_t place = 0, places = 1;
    int result = pleat_get_int(params, "places", false, 1, PLEAT_PARAM_RANKS_MAX, &places, err);
    if (!result)
        result = pleat_get_int(params, "place", false, 0, places - 1, &place, err);
    if (!result)
        result = pleat_get_bool(params, "waits", false, &request->waits, err);
    request->place = (uint32_t)place;
    request->places = (uint32_t)places;
    if (!result && request->part && request->mailbox_ranks && !place)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'place' must be given: the node of a part does not lead its run");
    return result;
}

/* What is started, and where. */
static int read_program(const json_t *params, struct pleat_run_request *request,
                        struct pleat_error *err)
{
    int64_t mask = 077;
    int result = pleat_param_strings(params, "argv", false, &request->argv, err);
    if (!result && json_array_size(request->argv) == 0)
        result = pleat_error_set(err, PLEAT_E_INVALID, "'argv' is empty: there is no program");
    if (!result)
        result = pleat_param_strings(params, "env", true, &request->env, err);
    if (!result)
        result = get_path(params, "cwd", &request->cwd, err);
    if (!result)
        result = pleat_get_string(params, "file", false, &request->file, err);
    if (!result && request->file)
        result = pleat_get_string(params, "text", true, &request->file_text, err);
    if (!result && request->file && (strchr(request->file, '/') || *request->file == '.'))
        result = pleat_error_set(err, PLEAT_E_INVALID, "'file' is no name of a file");
    if (!result)
        result = pleat_get_int(params, "umask", false, 0, 0777, &mask, err);
    request->umask = (mode_t)mask;
    return result;
}

/* What it reads and writes. */
static int read_streams(const json_t *params, struct pleat_run_request *request,
                        struct pleat_error *err)
{
    int result = get_path(params, "stdout", &request->stdout_path, err);
    if (!result)
        result = get_path(params, "stderr", &request->stderr_path, err);
    if (!result && json_object_get(params, "stdin"))
        result = get_path(params, "stdin", &request->stdin_path, err);
    if (!result)
        result = pleat_get_bool(params, "stdin_sent", false, &request->stdin_sent, err);
    if (!result)
        result = pleat_get_bool(params, "output_sent", false, &request->output_sent, err);
    if (!result && json_object_get(params, "terminal"))
        result = get_path(params, "terminal", &request->terminal, err);
    request->window = json_object_get(params, "window");
    if (!result && request->window &&
        (request->terminal || !request->stdin_sent || !request->output_sent))
        result = pleat_error_set(err, PLEAT_E_INVALID,
                                 "'window' is of a terminal that is made here: it needs "
                                 "'stdin_sent' and 'output_sent', and is not with 'terminal'");
    if (!result)
        result = pleat_get_bool(params, "truncate", false, &request->truncate, err);
    return result;
}

/* Which ranks it has, or may have. */
static int read_ranks(const json_t *params, struct pleat_run_request *request,
                      struct pleat_error *err)
{
    const int64_t most = PLEAT_PARAM_RANKS_MAX;
    int64_t ranks = 0, launches = 0, hosts = 0, cpus = 0;
    int result = pleat_get_int(params, "mailbox_ranks", false, 0, most, &ranks, err);
    if (!result)
        result = pleat_get_int(params, "launches", false, 0, ranks, &launches, err);
    if (!result)
        result = pleat_get_bool(params, "adapts", false, &request->launches_adapt, err);
    if (!result)
        result = pleat_get_int(params, "hosts", false, 0, most, &hosts, err);
    if (!result)
        result = pleat_get_int(params, "cpus_per_task", false, 0, most, &cpus, err);
    request->mailbox_ranks = (uint32_t)ranks;
    request->launches = (uint32_t)launches;
    request->hosts = (uint32_t)hosts;
    request->cpus_per_task = (uint32_t)cpus;
    return result;
}

/* What goes on here from what an earlier run keeps. */
static int read_before(const json_t *params, struct pleat_run_request *request,
                       struct pleat_error *err)
{
    int64_t last = 0, from = 0, to = 0;
    int result = pleat_param_id(params, "before", &request->before, err);
    if (!result)
        result = pleat_get_int(params, "last_part", false, 0, UINT32_MAX / 2, &last, err);
    if (!result)
        result = pleat_get_int(params, "from", false, 0, PLEAT_PARAM_RANKS_MAX, &from, err);
    if (!result)
        result = pleat_get_int(params, "to", false, 0, PLEAT_PARAM_RANKS_MAX, &to, err);
    if (!result && json_object_get(params, "resize"))
        result = pleat_param_id(params, "resize", &request->resize, err);
    if (!result)
        result = pleat_get_string(params, "occasion", false, &request->occasion, err);
    request->last_part = (uint32_t)last;
    request->from = (uint32_t)from;
    request->to = (uint32_t)to;
    return result;
}

/* On which nodes and slots. */
static int read_nodes(const json_t *params, struct pleat_run_request *request,
                      struct pleat_error *err)
{
    int64_t part = 0;
    int result = pleat_param_slots(params, &request->slots, err);
    if (!result)
        result = pleat_get_int(params, "part", false, 1, UINT32_MAX, &part, err);
    request->part = (uint32_t)part;
    if (!result && json_object_get(params, "before"))
        result = read_before(params, request, err);
    request->nodes = json_object_get(params, "nodes");
    if (!result)
        result = read_place(params, request, err);
    if (!result && request->nodes && !json_is_array(request->nodes))
        result = pleat_error_set(err, PLEAT_E_INVALID, "'nodes' must be an array");
    return result;
}

/* limits: room for the limits to which the request refers. */
static int read_start(const json_t *params, struct pleat_run_request *request,
                      struct pleat_limits *limits, struct pleat_error *err)
{
    int result = pleat_param_id(params, "run", &request->id, err);
    request->job = "?";
    if (!result)
        result = pleat_get_string(params, "job", false, &request->job, err);
    if (!result)
        result = read_program(params, request, err);
    if (!result)
        result = read_streams(params, request, err);
    if (!result)
        result = read_ranks(params, request, err);
    if (!result)
        result = read_process(params, request, limits, err);
    if (!result && json_object_get(params, "scratch"))
        result = get_scratch(params, &request->scratch, err);
    if (!result)
        result = read_nodes(params, request, err);
    if (!result)
        result = pleat_param_seconds(params, "linger_s",
                                     request->mailbox_ranks ? LINGER_MALLEABLE_S : LINGER_S,
                                     &request->linger_us, err);
    return result;
}

/* Reads whose processes ask for others. */
static int read_evolves(const json_t *params, struct pleat_evolve_request *evolves,
                        struct pleat_error *err)
{
    const json_t *member = json_object_get(params, "processes");
    int64_t count = 0, maximum = 0;
    if (!member || json_is_null(member))
        return 0;
    int result = pleat_get_int(member, "count", true, 1, PLEAT_PARAM_RANKS_MAX, &count, err);
    if (!result)
        result =
            pleat_get_int(member, "maximum", true, count, PLEAT_PARAM_RANKS_MAX, &maximum, err);
    if (!result)
        result = pleat_get_bool(member, "nodes", false, &evolves->nodes, err);
    if (!result)
        result = pleat_get_string(member, "sites", false, &evolves->sites, err);
    if (!result)
        result = pleat_get_bool(member, "any_site", false, &evolves->any_site, err);
    evolves->count = (uint32_t)count;
    evolves->maximum = (uint32_t)maximum;
    return result;
}

/* Reads which process of a run it is whose processes ask for others. */
static int read_far(const json_t *params, struct pleat_start_request *request,
                    struct pleat_error *err)
{
    const json_t *member = json_object_get(params, "process");
    struct pleat_run_request *run = &request->run;
    int64_t id = 0;
    if (!member || json_is_null(member))
        return 0;
    int result = pleat_get_int(member, "id", true, 1, UINT32_MAX - 1, &id, err);
    if (!result)
        result = pleat_get_string(member, "secret", true, &request->far.secret, err);
    if (!result)
        result = pleat_get_string(member, "reach", false, &request->far.reach, err);
    if (!result && (!run->part || !run->scratch || run->folded || run->mailbox_ranks))
        result = pleat_error_set(err, PLEAT_E_INVALID,
                                 "run %" PRIu64 " is a process of another run: it is a part of "
                                 "that, has a scratch directory, and is a plain one",
                                 run->id);
    request->far.process = (uint32_t)id;
    run->far = &request->far;
    return result;
}

/* What cannot be had together with that its processes ask for others. */
static int check_evolves(const struct pleat_run_request *run, struct pleat_error *err)
{
    if (!run->evolves || (!run->folded && !run->mailbox_ranks && !run->nodes && !run->part &&
                          !run->output_sent && !run->stdin_sent && run->scratch))
        return 0;
    return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                           "run %" PRIu64 " asks for processes: it is on one node, with files that "
                           "are seen there and a scratch directory, and is neither folded nor "
                           "malleable",
                           run->id);
}

int pleat_start_request_read(const json_t *params, struct pleat_start_request *request,
                             struct pleat_error *err)
{
    *request = (struct pleat_start_request){0};
    int result = read_start(params, &request->run, &request->limits, err);
    if (!result)
        result = read_fold(params, &request->folded, err);
    if (!result && request->folded.processes && request->run.mailbox_ranks)
        result =
            pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                            "run %" PRIu64 " cannot be folded and have a mailbox", request->run.id);
    if (!result && request->run.nodes && (request->run.launches || request->run.part))
        result = pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                                 "run %" PRIu64 " is a script, or a part: it has one node",
                                 request->run.id);
    request->run.folded = request->folded.processes ? &request->folded : NULL;
    if (!result)
        result = read_evolves(params, &request->evolves, err);
    request->run.evolves = request->evolves.count ? &request->evolves : NULL;
    if (!result)
        result = read_far(params, request, err);
    return result ? result : check_evolves(&request->run, err);
}

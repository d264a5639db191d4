/* The operations by libslurm, as a module of its own: its ABI belongs to the release of Slurm, so
 * that pleat-slurm has to work where this cannot be loaded. libslurm ends the process when it finds
 * no configuration, or a wrong one. */
#include <errno.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <string.h>
#include <unistd.h>

#include "slurm/auth.h"
#include "slurm/system.h"
#include "wire/message.h"

/* exported by libslurm, but in none of its headers */
extern char *slurm_job_reason_string(enum job_state_reason reason);
extern char *slurm_job_state_string(uint32_t state);
extern void slurm_free_will_run_response_msg(will_run_response_msg_t *msg);

extern const struct pleat_adapter_ops pleat_slurm_library;

static int code_of(int number)
{
    switch (number) {
    case SLURM_COMMUNICATIONS_CONNECTION_ERROR:
    case SLURM_COMMUNICATIONS_SEND_ERROR:
    case SLURM_COMMUNICATIONS_RECEIVE_ERROR:
    case SLURM_COMMUNICATIONS_SHUTDOWN_ERROR:
    case SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR:
    case SLURMCTLD_COMMUNICATIONS_SEND_ERROR:
    case SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR:
    case SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR:
    case SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT:
    case SLURM_PROTOCOL_INSANE_MSG_LENGTH: /* what answers is no controller, or a sick one */
    case SLURM_UNEXPECTED_MSG_ERROR:
    case SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT:
    case ESLURM_IN_STANDBY_MODE:
    case ETIMEDOUT:
    case ECONNREFUSED:
    case ECONNRESET:
    case EHOSTUNREACH:
        return PLEAT_E_CLOSED;
    case ESLURM_CAN_NOT_START_IMMEDIATELY:
    case ESLURM_NODES_BUSY:
    case ESLURM_ACCOUNTING_POLICY:
    case ESLURM_NODE_NOT_AVAIL:
    case ESLURM_RESERVATION_BUSY:
    case ESLURM_PARTITION_DOWN:
    case ESLURM_SUBMISSIONS_DISABLED:
    case ESLURM_PARTITION_NOT_AVAIL:
    case ESLURM_NOT_TOP_PRIORITY:
    case EAGAIN:
        return PLEAT_E_BUSY;
    case ESLURM_INVALID_PARTITION_NAME:
    case ESLURM_DEFAULT_PARTITION_NOT_SET:
    case ESLURM_REQUESTED_NODES_NOT_IN_PARTITION:
    case ESLURM_TOO_MANY_REQUESTED_CPUS:
    case ESLURM_INVALID_NODE_COUNT:
    case ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE:
    case ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE:
    case ESLURM_INVALID_NODE_NAME:
    case ESLURM_INVALID_FEATURE:
    case ESLURM_INVALID_ACCOUNT:
    case ESLURM_INVALID_QOS:
    case ESLURM_RESERVATION_INVALID:
    case ESLURM_INVALID_TIME_LIMIT:
    case ESLURM_INVALID_TASK_MEMORY:
    case ESLURM_INVALID_CPU_COUNT:
    case ESLURM_BATCH_ONLY:
        return PLEAT_E_INVALID;
    case ESLURM_ACCESS_DENIED:
    case ESLURM_RESERVATION_ACCESS:
    case ESLURM_USER_ID_MISSING:
    case ESLURM_GROUP_ID_MISSING:
    case ESLURM_JOB_MISSING_REQUIRED_PARTITION_GROUP:
        return PLEAT_E_PERMISSION;
    case ESLURM_INVALID_JOB_ID:
    case ESLURM_ALREADY_DONE:
        return PLEAT_E_NOTFOUND;
    default:
        return PLEAT_E_SYSTEM;
    }
}

static int failed(const char *what, struct pleat_error *err)
{
    int number = slurm_get_errno();
    return pleat_error_set(err, code_of(number), "%s: %s", what, slurm_strerror(number));
}

static int no_memory(struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for an answer of Slurm");
}

/* Sets a text of Slurm's; NULL becomes "". */
static int set_text(json_t *object, const char *name, const char *text)
{
    return json_object_set_new(object, name, pleat_json_text(text ? text : ""));
}

static int set_number(json_t *object, const char *name, int64_t number)
{
    return json_object_set_new(object, name, json_integer(number));
}

/* Minutes; unlimited and unknown ones are left out. */
static int set_limit(json_t *object, const char *name, uint32_t limit)
{
    return limit == INFINITE || limit == NO_VAL ? 0 : set_number(object, name, limit);
}

/* ---- what the cluster offers ---- */

static json_t *partition_json(const partition_info_t *partition)
{
    json_t *object = json_object();
    if (!object || set_text(object, "name", partition->name) ||
        json_object_set_new(object, "default",
                            json_boolean(partition->flags & PART_FLAG_DEFAULT)) ||
        json_object_set_new(object, "up", json_boolean(partition->state_up == PARTITION_UP)) ||
        set_text(object, "nodes", partition->nodes) ||
        set_number(object, "node_count", partition->total_nodes) ||
        set_number(object, "cpus", partition->total_cpus) ||
        set_limit(object, "max_minutes", partition->max_time) ||
        set_limit(object, "default_minutes", partition->default_time) ||
        set_limit(object, "max_nodes", partition->max_nodes) ||
        json_object_set_new(object, "exclusive", json_boolean(partition->max_share == 0)) ||
        set_text(object, "accounts", partition->allow_accounts) ||
        set_text(object, "groups", partition->allow_groups) ||
        set_text(object, "qos", partition->allow_qos)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int op_cluster(json_t **cluster, struct pleat_error *err)
{
    slurm_conf_t *conf = NULL;
    partition_info_msg_t *partitions = NULL;
    if (slurm_load_ctl_conf(0, &conf))
        return failed("asking the controller for its configuration", err);
    if (slurm_load_partitions(0, &partitions, SHOW_LOCAL)) {
        int failure = failed("asking the controller for its partitions", err);
        slurm_free_ctl_conf(conf);
        return failure;
    }
    pleat_slurm_auth_learn(conf->authtype ? conf->authtype : "",
                           conf->authinfo ? conf->authinfo : "");
    json_t *list = json_array();
    *cluster = json_object();
    int bad = !list || !*cluster || set_text(*cluster, "cluster", conf->cluster_name) ||
              set_text(*cluster, "version", conf->version) ||
              set_number(*cluster, "kill_wait_s", conf->kill_wait);
    for (uint32_t i = 0; !bad && i < partitions->record_count; i++)
        bad = json_array_append_new(list, partition_json(&partitions->partition_array[i]));
    bad = bad || json_object_set(*cluster, "partitions", list);
    json_decref(list);
    slurm_free_partition_info_msg(partitions);
    slurm_free_ctl_conf(conf);
    if (!bad)
        return 0;
    json_decref(*cluster);
    *cluster = NULL;
    return no_memory(err);
}

/* ---- nodes ---- */

static const char *node_state(uint32_t state, bool used)
{
    uint32_t base = state & NODE_STATE_BASE;
    if (base == NODE_STATE_DOWN || base == NODE_STATE_UNKNOWN || base == NODE_STATE_ERROR ||
        base == NODE_STATE_FUTURE ||
        state & (NODE_STATE_NO_RESPOND | NODE_STATE_FAIL | NODE_STATE_POWERING_DOWN |
                 NODE_STATE_INVALID_REG))
        return "down";
    if (state & NODE_STATE_DRAIN)
        return "drained";
    if (state & (NODE_STATE_MAINT | NODE_STATE_RES))
        return "reserved";
    return used ? "used" : "idle";
}

static json_t *node_json(node_info_t *node)
{
    uint16_t used = 0;
    slurm_get_select_nodeinfo(node->select_nodeinfo, SELECT_NODEDATA_SUBCNT, NODE_STATE_ALLOCATED,
                              &used);
    json_t *object = json_object();
    if (!object || set_text(object, "name", node->name) ||
        set_number(object, "cpus", node->cpus_efctv ? node->cpus_efctv : node->cpus) ||
        set_number(object, "used", used) ||
        set_text(object, "state", node_state(node->node_state, used > 0)) ||
        set_number(object, "memory_mb", (int64_t)node->real_memory) ||
        set_text(object, "features", node->features) ||
        (node->cpu_load != NO_VAL &&
         json_object_set_new(object, "load", json_real(node->cpu_load / 100.0)))) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int op_nodes(json_t **nodes, struct pleat_error *err)
{
    node_info_msg_t *loaded = NULL;
    if (slurm_load_node(0, &loaded, SHOW_ALL | SHOW_LOCAL))
        return failed("asking the controller for its nodes", err);
    *nodes = json_array();
    int bad = !*nodes;
    for (uint32_t i = 0; !bad && i < loaded->record_count; i++)
        if (loaded->node_array[i].name)
            bad = json_array_append_new(*nodes, node_json(&loaded->node_array[i]));
    slurm_free_node_info_msg(loaded);
    if (!bad)
        return 0;
    json_decref(*nodes);
    *nodes = NULL;
    return no_memory(err);
}

/* ---- jobs ---- */

static int add_node(json_t *nodes, const json_t *name, int64_t cpus)
{
    json_t *node = json_object();
    int bad = !node || json_object_set(node, "name", (json_t *)name) ||
              set_number(node, "cpus", cpus) || json_array_append(nodes, node);
    json_decref(node);
    return bad;
}

/* The nodes of a running job. */
static json_t *job_nodes(const slurm_job_info_t *job)
{
    json_t *names = NULL, *nodes = json_array();
    if (!nodes || pleat_slurm_hostlist(job->nodes ? job->nodes : "", &names, NULL)) {
        json_decref(nodes);
        return NULL;
    }
    size_t index;
    json_t *name;
    int bad = 0;
    json_array_foreach(names, index, name)
    {
        int cpus = job->job_resrcs
                       ? slurm_job_cpus_allocated_on_node(job->job_resrcs, json_string_value(name))
                       : 0;
        bad = bad || add_node(nodes, name, cpus > 0 ? cpus : 0);
    }
    json_decref(names);
    if (!bad)
        return nodes;
    json_decref(nodes);
    return NULL;
}

static const char *job_state(uint32_t state)
{
    uint32_t base = state & JOB_STATE_BASE;
    if (base > JOB_SUSPENDED)
        return state & JOB_COMPLETING ? "ending" : "ended";
    return base == JOB_PENDING || state & (JOB_CONFIGURING | JOB_POWER_UP_NODE) ? "pending"
                                                                                : "running";
}

static json_t *job_json(const slurm_job_info_t *job)
{
    const char *state = job_state(job->job_state);
    bool runs = !strcmp(state, "running");
    bool ending = !strcmp(state, "ending");
    bool over = ending || !strcmp(state, "ended");
    const char *reason = over ? slurm_job_state_string(job->job_state & JOB_STATE_BASE)
                              : slurm_job_reason_string((enum job_state_reason)job->state_reason);
    json_t *object = json_object();
    json_t *nodes = runs || ending ? job_nodes(job) : json_array();
    if (!nodes && ending) /* it has left some of them already, or all */
        nodes = json_array();
    if (!object || !nodes || set_number(object, "job", job->job_id) ||
        set_text(object, "name", job->name) || set_text(object, "state", state) ||
        set_text(object, "reason", runs ? "" : reason) ||
        (job->start_time > 0 && set_number(object, "start", job->start_time)) ||
        (((runs && job->time_limit != INFINITE) || ending) && job->end_time > 0 &&
         set_number(object, "end", job->end_time)) ||
        json_object_set(object, "nodes", nodes)) {
        json_decref(object);
        object = NULL;
    }
    json_decref(nodes);
    return object;
}

static int op_jobs(json_t **jobs, struct pleat_error *err)
{
    job_info_msg_t *loaded = NULL;
    if (slurm_load_job_user(&loaded, getuid(), SHOW_ALL | SHOW_DETAIL | SHOW_LOCAL))
        return failed("asking the controller for its jobs", err);
    *jobs = json_array();
    int bad = !*jobs;
    for (uint32_t i = 0; !bad && i < loaded->record_count; i++)
        bad = json_array_append_new(*jobs, job_json(&loaded->job_array[i]));
    slurm_free_job_info_msg(loaded);
    if (!bad)
        return 0;
    json_decref(*jobs);
    *jobs = NULL;
    return pleat_error_set(err, PLEAT_E_PROTOCOL,
                           "an answer of the controller about jobs makes no sense");
}

/* ---- allocating ---- */

static void fill(job_desc_msg_t *asked, const struct pleat_adapter_wish *wish)
{
    slurm_init_job_desc_msg(asked);
    /* libslurm does not change what these point to */
    asked->name = (char *)wish->name;
    asked->partition = (char *)wish->texts[PLEAT_SLURM_PARTITION];
    asked->account = (char *)wish->texts[PLEAT_SLURM_ACCOUNT];
    asked->qos = (char *)wish->texts[PLEAT_SLURM_QOS];
    asked->features = (char *)wish->texts[PLEAT_SLURM_CONSTRAINT];
    asked->reservation = (char *)wish->texts[PLEAT_SLURM_RESERVATION];
    asked->exc_nodes = (char *)wish->without;
    asked->req_nodes = (char *)wish->on;
    asked->work_dir = (char *)"/";
    asked->user_id = getuid();
    asked->group_id = getgid();
    asked->immediate = wish->now;
    asked->min_nodes = wish->nodes ? wish->nodes : 1;
    asked->max_nodes = wish->nodes ? wish->nodes : asked->max_nodes;
    if (wish->count) {
        asked->num_tasks = wish->count;
        asked->min_cpus = wish->count;
    }
    if (wish->minutes)
        asked->time_limit = wish->minutes;
    if (wish->memory_mb)
        asked->pn_min_memory = wish->memory_mb;
    if (wish->exclusive)
        asked->shared = JOB_SHARED_NONE;
}

/* The nodes that were given at once. */
static json_t *given_nodes(const resource_allocation_response_msg_t *given)
{
    json_t *names = NULL, *nodes = json_array();
    if (!nodes || pleat_slurm_hostlist(given->node_list ? given->node_list : "", &names, NULL)) {
        json_decref(nodes);
        return NULL;
    }
    size_t index;
    json_t *name;
    uint32_t group = 0, in_group = 0;
    int bad = 0;
    json_array_foreach(names, index, name)
    {
        if (group < given->num_cpu_groups && in_group == given->cpu_count_reps[group]) {
            group++;
            in_group = 0;
        }
        bad = bad || group >= given->num_cpu_groups ||
              add_node(nodes, name, given->cpus_per_node[group]);
        in_group++;
    }
    json_decref(names);
    if (!bad && json_array_size(nodes) > 0)
        return nodes;
    json_decref(nodes);
    return NULL;
}

/* The job as the protocol has it; NULL: what was given makes no sense. */
static json_t *given_json(const resource_allocation_response_msg_t *given, const char *name)
{
    bool runs = given->node_cnt > 0 && given->node_list && given->node_list[0];
    json_t *nodes = runs ? given_nodes(given) : json_array();
    json_t *object = json_object();
    if (!nodes || !object || set_number(object, "job", given->job_id) ||
        set_text(object, "name", name) || set_text(object, "state", runs ? "running" : "pending") ||
        set_text(object, "reason", "") || json_object_set(object, "nodes", nodes)) {
        json_decref(object);
        object = NULL;
    }
    json_decref(nodes);
    return object;
}

static resource_allocation_response_msg_t *allocate(const struct pleat_adapter_wish *wish,
                                                    bool on_one, const char *near)
{
    job_desc_msg_t asked;
    resource_allocation_response_msg_t *given = NULL;
    fill(&asked, wish);
    if (on_one) {
        asked.req_nodes = (char *)near;
        asked.min_nodes = asked.max_nodes = 1;
        asked.immediate = 1;
    }
    return slurm_allocate_resources(&asked, &given) ? NULL : given;
}

static int op_allocate(const struct pleat_adapter_wish *wish, json_t **job, struct pleat_error *err)
{
    const char *const places[] = {wish->near, NULL};
    const bool tries[] = {wish->near != NULL, wish->few};
    resource_allocation_response_msg_t *given = NULL;
    for (size_t i = 0; !given && wish->nodes <= 1 && i < 2; i++) {
        if (!tries[i])
            continue;
        given = allocate(wish, true, places[i]);
        if (!given && code_of(slurm_get_errno()) == PLEAT_E_CLOSED)
            return failed("asking for an allocation", err);
    }
    if (!given)
        given = allocate(wish, false, NULL);
    if (!given)
        return failed("asking for an allocation", err);
    uint32_t number = given->job_id;
    *job = given_json(given, wish->name);
    slurm_free_resource_allocation_response_msg(given);
    if (*job)
        return 0;
    slurm_kill_job(number, SIGKILL, 0);
    return pleat_error_set(err, PLEAT_E_PROTOCOL,
                           "what the controller said of job %u makes no sense; it was cancelled",
                           number);
}

static int op_check(const struct pleat_adapter_wish *wish, struct pleat_error *err)
{
    job_desc_msg_t asked;
    will_run_response_msg_t *said = NULL;
    fill(&asked, wish);
    if (slurm_job_will_run2(&asked, &said))
        return failed("asking whether it would be allocated", err);
    slurm_free_will_run_response_msg(said);
    return 0;
}

/* What a job of this user is: by its number, if it has this name and is not over. */
static int find_ours(uint32_t number, const char *name, bool *runs, bool *batch,
                     struct pleat_error *err)
{
    job_info_msg_t *loaded = NULL;
    if (slurm_load_job(&loaded, number, 0))
        return failed("asking the controller for a job", err);
    const slurm_job_info_t *job = loaded->record_count ? &loaded->job_array[0] : NULL;
    bool ours = job && job->user_id == getuid() && job->name && !strcmp(job->name, name) &&
                (job->job_state & JOB_STATE_BASE) <= JOB_SUSPENDED;
    *runs = ours && (job->job_state & JOB_STATE_BASE) == JOB_RUNNING;
    *batch = ours && job->batch_flag;
    slurm_free_job_info_msg(loaded);
    return ours ? 0
                : pleat_error_set(err, PLEAT_E_NOTFOUND, "there is no job %u '%s', or it is over",
                                  number, name);
}

static int op_release(uint32_t number, const char *name, struct pleat_error *err)
{
    bool runs, batch;
    int failure = find_ours(number, name, &runs, &batch, err);
    if (failure)
        return failure;
    /* one that was given back is "completed" in Slurm's accounts, not "cancelled" */
    if (runs && !batch ? slurm_complete_job(number, 0) : slurm_kill_job(number, SIGKILL, 0))
        return failed("ending a job", err);
    return 0;
}

static int op_keep(uint32_t number, const char *name, const char *nodes, struct pleat_error *err)
{
    bool runs, batch;
    job_desc_msg_t kept;
    int failure = find_ours(number, name, &runs, &batch, err);
    if (failure)
        return failure;
    slurm_init_job_desc_msg(&kept);
    kept.job_id = number;
    kept.req_nodes = (char *)(uintptr_t)nodes; /* libslurm does not change it */
    return slurm_update_job(&kept) ? failed("giving back nodes of a job", err) : 0;
}

static int op_seal(const char *secret, char **sealed, struct pleat_error *err)
{
    return pleat_slurm_auth_seal(op_cluster, secret, sealed, err);
}

__attribute__((visibility("default"))) const struct pleat_adapter_ops pleat_slurm_library = {
    .name = "libslurm",
    .cluster = op_cluster,
    .nodes = op_nodes,
    .jobs = op_jobs,
    .allocate = op_allocate,
    .check = op_check,
    .release = op_release,
    .keep = op_keep,
    .seal = op_seal,
};

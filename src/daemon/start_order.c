#include "daemon/start_order.h"

#include <string.h>

#include "daemon/agent_link.h"
#include "daemon/agent_network.h"
#include "daemon/daemon.h"
#include "daemon/files.h"
#include "daemon/inputs.h"
#include "daemon/jobs.h"
#include "daemon/specs.h"

void start_order_finish(struct start_order *made)
{
    slots_finish(&made->slots);
    free(made->nodes);
    made->nodes = NULL;
}

/* The nodes of a run that has several, as its launcher knows them. */
static int name_nodes(struct daemon *d, struct start_order *made, struct pleat_error *err)
{
    const struct pleat_config_site *site = &d->config.sites[made->order.site];
    const struct node_slots_list *slots = &made->slots;
    if (slots->count == 0 || (slots->count == 1 && slots->items[0].node == made->order.node))
        return 0;
    made->nodes = calloc(slots->count, sizeof(*made->nodes));
    if (!made->nodes)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    int32_t before = 0;
    for (size_t i = 0; i < slots->count; i++) {
        made->nodes[i].node = slots->items[i].node;
        made->nodes[i].processors = slots->items[i].processors;
        made->nodes[i].processes =
            made->order.spec->folds
                ? slots_processes(d, &pleat_core_view(d->core)->components[made->order.component],
                                  slots->items[i].node, before, made->nodes[i].processors)
                : made->nodes[i].processors;
        before += made->nodes[i].processors;
        agent_node_name(d, made->order.site, slots->items[i].node, made->nodes[i].name,
                        sizeof(made->nodes[i].name));
        if (i == 0)
            agent_network_begin(d, made->order.site, slots->items[i].node, &made->network);
        else
            agent_network_join(d, made->order.site, slots->items[i].node, &made->network);
    }
    for (size_t i = 0; i < slots->count; i++)
        made->order.nodes_apart =
            made->order.nodes_apart || agent_is_apart(d, made->order.site, slots->items[i].node);
    made->order.nodes = made->nodes;
    made->order.node_count = slots->count;
    made->order.one_machine = site->here.nodes > 0;
    made->order.interface = site->interface ? site->interface : made->network.interface;
    made->order.network = site->interface ? "" : made->network.network;
    made->order.fabric = !site->interface && made->network.fabric;
    return 0;
}

/* The node that leads comes first, also where its processors are the first to be given back. */
static void put_lead_first(struct node_slots_list *slots, uint32_t lead)
{
    size_t at = 0;
    while (at < slots->count && slots->items[at].node != lead)
        at++;
    if (at == 0 || at == slots->count)
        return;
    const struct node_slots first = slots->items[at];
    memmove(slots->items + 1, slots->items, at * sizeof(*slots->items));
    slots->items[0] = first;
}

/* Prepares a run on a node that does not see this machine's files: its script is sent. */
static int send_all(struct start_order *made, struct pleat_error *err)
{
    const struct pleat_spec *spec = made->order.spec;
    if (!spec->script)
        return 0;
    char name[NAME_MAX + 1], *slash = strrchr(made->program, '/');
    snprintf(name, sizeof(name), "%s", slash ? slash + 1 : "script");
    int length = snprintf(made->program, sizeof(made->program), "%s/%s%s", made->scratch,
                          *name == '.' ? "script" : "", name);
    return length > 0 && (size_t)length < sizeof(made->program)
               ? 0
               : pleat_error_set(err, PLEAT_E_TOOBIG, "the name of its script is too long");
}

int start_order_make(struct daemon *d, const struct job *job, uint64_t run, int32_t processes,
                     int32_t processors, struct start_order *made, struct pleat_error *err)
{
    memset(&made->slots, 0, sizeof(made->slots));
    made->nodes = NULL;
    memset(&made->order, 0, sizeof(made->order));
    const struct pleat_component *component = job_component(d, job);
    const struct pleat_site *site = &pleat_core_view(d->core)->sites[component->site];
    const struct pleat_spec *spec = spec_of(d, job->id, err);
    if (!spec)
        return err->code;
    *made->program = '\0';
    agent_scratch(d, component->site, component->lead_node, run, made->scratch,
                  sizeof(made->scratch));
    int rc = job_file_path(d, job->id, JOB_INPUT, made->in, sizeof(made->in), err);
    if (!rc)
        rc = job_file_path(d, job->id, JOB_OUTPUT, made->out, sizeof(made->out), err);
    if (!rc)
        rc = job_file_path(d, job->id, JOB_ERROR, made->error, sizeof(made->error), err);
    if (!rc)
        rc = slots_of(d, component, processors, &made->slots, err);
    put_lead_first(&made->slots, component->lead_node);
    if (spec->script)
        job_script_path(d, job, made->program, sizeof(made->program));
    made->order = (struct pleat_run_order){
        .run = run,
        .component = job->component,
        .job = (uint64_t)job->id,
        .site = component->site,
        .node = component->lead_node,
        .processes = processes,
        .processors = processors,
        .slots = made->slots.count ? made->slots.items[0].ranges.items : NULL,
        .slot_ranges = made->slots.count ? made->slots.items[0].ranges.count : 0,
        .more_cpus = made->slots.count ? made->slots.items[0].more.items : NULL,
        .more_count = made->slots.count ? made->slots.items[0].more.count : 0,
        .most = site->capacity, /* the job's maximum may be raised while it runs */
        .spec = spec,
        .program = *made->program ? made->program : NULL,
        .stdin_path = *made->in ? made->in : NULL,
        .apart = agent_is_apart(d, component->site, component->lead_node),
        .roams = pleat_view_roams(component) &&
                 (site->several || d->config.sites[component->site].brings_agents || spec->sites),
        .stdin_sent = inputs_are_sent(d, job->id, component->site, component->lead_node),
        .stdout_path = made->out,
        .stderr_path = made->error,
        /* a second attempt goes on in the files of the first */
        .truncate = (spec->output || spec->error) && !spec->append && component->attempt == 0,
        .scratch = made->scratch,
    };
    if (!rc && made->order.apart)
        rc = send_all(made, err);
    if (!rc)
        rc = terminals_order(d, job, &made->order, err);
    return rc ? rc : name_nodes(d, made, err);
}

/* run.c - one run, and what is kept of it. */
#include <stdio.h>

#include "simlib/simulation.h"

static int on_change(void *context, const struct pleat_sim_change *change)
{
    struct pleat_simulation *simulation = context;
    struct pleat_edge edge = {change->time_us, change->to - change->from};
    simulation->stood_us += change->stood_us;
    if (pleat_array_push(&simulation->edges, edge))
        return PLEAT_E_NOMEM;
    if (change->from == 0 || change->to == 0)
        return 0; /* the job started or ended, and did not change its size */
    return pleat_array_push(&simulation->resizes, *change) ? PLEAT_E_NOMEM : 0;
}

static int on_pass(void *context)
{
    return ((struct pleat_simulation *)context)->ended ? PLEAT_E_CLOSED : 0;
}

static int on_progress(void *context, const struct pleat_sim_progress *progress)
{
    struct pleat_simulation *simulation = context;
    if (simulation->told)
        simulation->told(simulation->told_context, progress->now_us, (int64_t)progress->ended);
    return on_pass(context);
}

/* Processors of the machine that the workload is for: if it does not say, as many as its largest
 * job has. */
static int32_t machine_of(const struct pleat_workload *workload)
{
    int32_t most = workload->machine;
    for (size_t i = 0; workload->machine <= 0 && i < workload->jobs.count; i++)
        if (workload->jobs.items[i].processors > most)
            most = workload->jobs.items[i].processors;
    return most;
}

/* The sites of this run: those that were given, or one machine for the workload. */
static int choose_sites(struct pleat_simulation *simulation, struct pleat_error *err)
{
    const struct pleat_sim_sites *given = &simulation->platform.sites;
    struct pleat_platform *used = &simulation->used;
    int rc = 0;
    pleat_array_finish(&used->sites);
    used->links = simulation->platform.links;
    for (size_t i = 0; !rc && i < given->count; i++)
        rc = pleat_array_push(&used->sites, given->items[i]);
    if (!rc && given->count == 0)
        rc = pleat_platform_add(used, "machine", machine_of(&simulation->workload));
    return rc ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory") : 0;
}

/* Copies of sites share what belongs to the sites that were given. */
static int prepare(struct pleat_simulation *simulation, struct pleat_error *err)
{
    size_t jobs = simulation->workload.jobs.count;
    if (jobs == 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "there is no job to simulate: read or generate a workload first");
    simulation_forget(simulation);
    simulation->stood_us = 0;
    simulation->ended = false;
    int rc = choose_sites(simulation, err);
    if (rc)
        return rc;
    size_t sites = simulation->used.sites.count;
    simulation->outcomes = calloc(jobs, sizeof(*simulation->outcomes));
    simulation->site_names = calloc(sites, sizeof(*simulation->site_names));
    if (!simulation->outcomes || !simulation->site_names)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (size_t i = 0; i < sites; i++)
        simulation->site_names[i] = simulation->used.sites.items[i].name;
    return 0;
}

int pleat_simulation_run(struct pleat_simulation *simulation, struct pleat_error *err)
{
    struct pleat_sim_options options = simulation->options;
    int rc = prepare(simulation, err);
    if (rc)
        return rc;
    options.platform = &simulation->used;
    options.context = simulation;
    options.on_change = on_change;
    options.on_pass = on_pass;
    options.on_progress = on_progress;
    struct pleat_simulation *before = own_policies_of(simulation);
    rc = pleat_sim_run(&simulation->workload, &options, simulation->outcomes, &simulation->totals,
                       err);
    (void)own_policies_of(before);
    simulation->ran = !rc;
    if (simulation->ended) /* whatever it has led to */
        return pleat_error_set(err, PLEAT_E_CLOSED, "%s", simulation->why.text);
    return rc == PLEAT_E_NOMEM ? pleat_error_set(err, rc, "out of memory while simulating") : rc;
}

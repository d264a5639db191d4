/* view.c - what a policy of the program may see: the pass's const view, in numbers. */
#include "policy/pass.h"
#include "simlib/simulation.h"

int64_t pleat_simulation_now_us(const struct pleat_simulation *simulation)
{
    return simulation->question.pass ? simulation->question.pass->view->now_us : 0;
}

static uint32_t first_of(const struct pleat_view *view, int list, uint32_t site)
{
    if (list == PLEAT_LIST_WAITING)
        return view->queue_first;
    if (site >= view->site_count)
        return PLEAT_NONE;
    return list == PLEAT_LIST_MALLEABLE ? view->sites[site].malleable_first
           : list == PLEAT_LIST_OTHERS  ? view->sites[site].rigid_first
                                        : PLEAT_NONE;
}

size_t pleat_simulation_list(const struct pleat_simulation *simulation, int list, uint32_t site,
                             uint32_t *components, size_t most)
{
    const struct pleat_pass *pass = simulation->question.pass;
    size_t count = 0;
    if (!pass)
        return 0;
    for (uint32_t c = first_of(pass->view, list, site); c != PLEAT_NONE;
         c = pass->view->components[c].next) {
        if (list == PLEAT_LIST_WAITING && pleat_plan_starts(pass->plan, c))
            continue;
        if (count < most)
            components[count] = c;
        count++;
    }
    return count;
}

static int64_t job_number(const struct pleat_simulation *simulation,
                          const struct pleat_component *component)
{
    uint64_t row = component->job - 1 + component->ordinal;
    return row < simulation->workload.jobs.count ? simulation->workload.jobs.items[row].number : -1;
}

static int64_t time_or_none(int64_t us)
{
    return us == PLEAT_NEVER ? -1 : us;
}

/* What is in the record itself. */
static int64_t of_record(const struct pleat_simulation *simulation,
                         const struct pleat_component *component, int what)
{
    bool runs = component->state == PLEAT_RUNNING || component->state == PLEAT_RESIZING;
    switch (what) {
    case PLEAT_OF_JOB:
        return job_number(simulation, component);
    case PLEAT_OF_MINIMUM:
        return component->minimum;
    case PLEAT_OF_MAXIMUM:
        return component->maximum;
    case PLEAT_OF_KIND:
        return component->kind;
    case PLEAT_OF_SITE:
        return runs ? (int64_t)component->site : -1;
    case PLEAT_OF_SUBMIT_US:
        return component->submit_us;
    case PLEAT_OF_START_US:
        return runs ? time_or_none(component->start_us) : -1;
    case PLEAT_OF_ESTIMATE_US:
        return component->estimate_us > 0 ? component->estimate_us : -1;
    case PLEAT_OF_PRIORITY:
        return component->priority;
    case PLEAT_OF_DUE_US:
        return time_or_none(component->due_us);
    case PLEAT_OF_RESIZING:
        return component->state == PLEAT_RESIZING;
    default:
        return -1;
    }
}

int64_t pleat_simulation_of_component(const struct pleat_simulation *simulation, int64_t component,
                                      int what)
{
    const struct pleat_pass *pass = simulation->question.pass;
    if (!pass && simulation->question.arrived && component == -1)
        return what == PLEAT_OF_PROCESSORS
                   ? 0
                   : of_record(simulation, simulation->question.arrived, what);
    if (!pass || component < 0 || component >= (int64_t)pass->view->component_count)
        return -1;
    const struct pleat_component *of = &pass->view->components[component];
    bool runs = of->state == PLEAT_RUNNING || of->state == PLEAT_RESIZING;
    switch (what) {
    case PLEAT_OF_PROCESSORS:
        return runs ? pleat_plan_size(pass->plan, (uint32_t)component) : 0;
    case PLEAT_OF_END_US:
        return runs ? time_or_none(pleat_view_expected_end(pass->view, of)) : -1;
    case PLEAT_OF_COULD_SHRINK:
        return of->state == PLEAT_RUNNING && of->kind == PLEAT_MALLEABLE &&
               pleat_plan_could_shrink(pass->plan, (uint32_t)component);
    case PLEAT_OF_LEAST_TO_START:
        return pleat_accept_start(pass->view, of);
    default:
        return of_record(simulation, of, what);
    }
}

uint32_t pleat_simulation_site_count(const struct pleat_simulation *simulation)
{
    return simulation->question.pass ? simulation->question.pass->view->site_count : 0;
}

const char *pleat_simulation_site_name(const struct pleat_simulation *simulation, uint32_t site)
{
    return site < simulation->used.sites.count ? simulation->used.sites.items[site].name : NULL;
}

int64_t pleat_simulation_of_site(const struct pleat_simulation *simulation, uint32_t site, int what)
{
    const struct pleat_pass *pass = simulation->question.pass;
    if (!pass || site >= pass->view->site_count)
        return -1;
    switch (what) {
    case PLEAT_OF_CAPACITY:
        return pass->view->sites[site].capacity;
    case PLEAT_OF_IDLE:
        return pleat_plan_idle(pass->plan, site);
    case PLEAT_OF_GROWABLE:
        return pleat_plan_growable(pass->plan, site);
    case PLEAT_OF_BACKGROUND:
        return pass->view->sites[site].background;
    default:
        return -1;
    }
}

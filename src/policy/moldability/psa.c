/* PSA, which saves processors for jobs to come: Utrera 2010, 5.2, 5.4.1 b and table 5.1, after
 * Rosti et al. 1998.
 *
 *   a job's processes: the machine's processors, in equal parts for all jobs in the queue
 *   if its part is not available, it waits, and what is available stays idle
 *
 * Section 5.4.1 says instead that all idle processors are assigned (it has the two notions of
 * work-conserving the wrong way round); read so, the idle processors are what is divided: psa-idle.
 * Taken where the thesis is silent: the part is rounded up (psa) or down (psa-idle), but not below
 * the smallest size that the job takes. */
#include "policy/classes.h"
#include "policy/policies.h"

static struct pleat_start_size psa_size(struct pleat_pass *pass, uint32_t component, uint32_t site,
                                        int32_t available)
{
    const struct pleat_site *place = &pass->view->sites[site];
    int32_t waiting = pleat_waiting(pass), processors = place->capacity - place->background;
    int32_t part =
        pleat_smaller(processors / waiting + (processors % waiting != 0),
                      pleat_view_capacity(pass->view, &pass->view->components[component], site));
    struct pleat_start_size size =
        pleat_start_share(pass, component, site, part, PLEAT_SIZE_MAX, 1);
    if (size.processors > available)
        size.processors = 0;
    return size;
}

static struct pleat_start_size psa_idle_size(struct pleat_pass *pass, uint32_t component,
                                             uint32_t site, int32_t available)
{
    return pleat_start_share(pass, component, site, available / pleat_waiting(pass), available, 1);
}

const struct pleat_policy pleat_policy_psa = {
    .number = 11,
    .version = 1,
    .question = PLEAT_MOLDABILITY,
    .name = "psa",
    .source = "Utrera 2010, 5.2 (Rosti et al. 1998)",
    .summary = "an equal part of the machine for each waiting job, or wait",
    .size = psa_size,
};

const struct pleat_policy pleat_policy_psa_idle = {
    .number = 15,
    .version = 1,
    .question = PLEAT_MOLDABILITY,
    .name = "psa-idle",
    .source = "Utrera 2010, 5.4.1 b",
    .summary = "an equal part of what is idle for each waiting job",
    .size = psa_idle_size,
};

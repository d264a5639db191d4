/* PSA, which saves processors for jobs to come: Utrera 2010, 5.2, 5.4.1 b and table 5.1, after
 * Rosti et al. 1998.
 *
 *   a job's processes: the machine's processors, in equal parts for all jobs in the queue
 *   if its part is not available, it waits, and what is available stays idle
 *
 * When it waits: 5.2 says if its processes are "greater or equal to" the processors available. Then
 * a job never starts on an empty machine, where its part is all of it: no job would ever end that
 * could change that, and the text expects it to start once one has ended. So psa lets it start if
 * they are equal (greater: it waits), also where others run. psa-printed takes the text by the
 * letter where others run; on an empty machine it starts the job, too.
 *
 * Which processors: psa and psa-printed follow 5.2 and table 5.1 (no work-conserving decisions).
 * Section 5.4.1 b says instead that all idle processors are assigned (it has the two notions of
 * work-conserving the wrong way round); read so, the idle processors are what is divided: psa-idle.
 * The thesis evaluated one of them, and does not say which. Small partitions as in 5.4.2 come of
 * psa-idle alone, so experiments/virtual-malleability takes that one, and runs all three.
 *
 * Taken where the thesis is silent: the part is rounded up (psa, psa-printed) or down (psa-idle),
 * but not below the smallest size that the job takes; what is compared is what the job takes of its
 * part; closed nodes are not part of the machine. */
#include "policy/classes.h"
#include "policy/policies.h"

/* What a job takes of its part of the machine, whatever is available. */
static struct pleat_start_size part_of_machine(const struct pleat_pass *pass, uint32_t component,
                                               uint32_t site)
{
    int32_t waiting = pleat_waiting(pass);
    int32_t processors = pleat_view_open_processors(pass->view, site);
    int32_t part = pleat_smaller(
        processors / waiting + (processors % waiting != 0),
        pleat_view_open_capacity(pass->view, &pass->view->components[component], site));
    return pleat_start_share(pass, component, site, part, PLEAT_SIZE_MAX, 1);
}

static struct pleat_start_size psa_size(struct pleat_pass *pass, uint32_t component, uint32_t site,
                                        int32_t available)
{
    struct pleat_start_size size = part_of_machine(pass, component, site);
    if (size.processors > available)
        size.processors = 0;
    return size;
}

/* Has nobody but the component any processor of the site, nor gets any by this plan? */
static bool is_alone(const struct pleat_pass *pass, uint32_t component, uint32_t site)
{
    const struct pleat_component *comp = &pass->view->components[component];
    const struct pleat_site *place = &pass->view->sites[site];
    return place->claimed == (comp->site == site ? comp->earmarked : 0) &&
           pleat_plan_started(pass->plan, site)->count == 0;
}

static struct pleat_start_size psa_printed_size(struct pleat_pass *pass, uint32_t component,
                                                uint32_t site, int32_t available)
{
    struct pleat_start_size size = part_of_machine(pass, component, site);
    if (size.processors > available ||
        (size.processors == available && !is_alone(pass, component, site)))
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
    .version = 2,
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

const struct pleat_policy pleat_policy_psa_printed = {
    .number = 20,
    .version = 2,
    .question = PLEAT_MOLDABILITY,
    .name = "psa-printed",
    .source = "Utrera 2010, 5.2",
    .summary = "as psa; a job waits, too, if its part is all that is idle, while others run",
    .size = psa_printed_size,
};

#include "daemon/ways.h"

#include <string.h>

#include "daemon/account.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/specs.h"
#include "runner/runner.h"

/* Of earlier jobs: how many are looked at, and how many of the same program are learned from. */
#define LOOK_BACK 200
#define LEARN_FROM 4
/* Resizes of the job itself after which earlier jobs do not matter any more. */
#define ENOUGH 16

/* The same file with the same MPI. What it is given to do may differ. */
static bool is_same_program(const struct pleat_spec *one, const struct pleat_spec *other)
{
    return one->argv && one->argv[0] && other->argv && other->argv[0] &&
           !strcmp(one->argv[0], other->argv[0]) && !strcmp(one->mpi, other->mpi) &&
           (strchr(one->argv[0], '/') == one->argv[0] || !strcmp(one->cwd, other->cwd));
}

/* Appends the samples of earlier jobs, the earliest job first. */
static int add_earlier(struct daemon *d, const struct job *job, struct way_samples *samples)
{
    struct job *alike[LEARN_FROM];
    size_t found = 0, place = job_after(d, job->id - 1);
    for (size_t looked = 0; place-- > 0 && looked < LOOK_BACK && found < LEARN_FROM; looked++) {
        struct job *other = d->jobs.by_number.items[place];
        if (is_same_program(job_spec(d, job->id), job_spec(d, other->id)))
            alike[found++] = other;
    }
    int rc = 0;
    while (found-- > 0 && !rc)
        rc = account_add_ways(job_account(d, alike[found]), samples);
    return rc;
}

static bool is_elsewhere(struct daemon *d, uint32_t claim, uint32_t node)
{
    for (uint32_t p = pleat_core_claim(d->core, claim)->first_piece; p != PLEAT_NONE;
         p = pleat_core_piece(d->core, p)->next)
        if (pleat_core_piece(d->core, p)->node != node)
            return true;
    return false;
}

/* Whether a resize that begins now is one over several nodes, where processes are started again: it
 * has some, or grows onto another one. Folded processes stay. */
static bool is_over_nodes(struct daemon *d, const struct pleat_component *component)
{
    uint32_t growth = component->resize != PLEAT_NONE
                          ? pleat_core_resize(d->core, component->resize)->claim
                          : PLEAT_NONE;
    if (!(component->flags & PLEAT_COMPONENT_SPREADS) || component->kind != PLEAT_MALLEABLE ||
        pleat_view_folds(component))
        return false;
    for (uint32_t c = component->first_claim; c != PLEAT_NONE;
         c = pleat_core_claim(d->core, c)->next)
        if (is_elsewhere(d, c, component->lead_node))
            return true;
    return growth != PLEAT_NONE && is_elsewhere(d, growth, component->lead_node);
}

bool ways_choose(struct daemon *d, struct job *job, bool grows, struct pleat_way_choice *choice)
{
    struct way_samples samples = {0};
    if (is_over_nodes(d, job_component(d, job))) {
        const bool ends_first = job_spec(d, job->id)->resize == PLEAT_WAY_RESTART;
        *choice =
            (struct pleat_way_choice){.way = ends_first ? PLEAT_WAY_RESTART : PLEAT_WAY_RELAUNCH,
                                      .reason = ACCOUNT_OVER_NODES};
        return true;
    }
    const struct account *own = job_account(d, job);
    if (!pleat_runner_chooses_way(job_spec(d, job->id)))
        return false;
    int rc = own->changes.count < ENOUGH ? add_earlier(d, job, &samples) : 0;
    if (!rc)
        rc = account_add_ways(own, &samples);
    if (!rc)
        *choice = pleat_way_choose(samples.items, samples.count, grows);
    pleat_array_finish(&samples);
    return !rc;
}

enum pleat_resize_way ways_chosen(struct daemon *d, struct job *job, uint64_t resize)
{
    const struct change *change = account_change(job_account(d, job), (int64_t)resize);
    return change && change->reason[0] ? change->way : PLEAT_WAY_AUTO;
}

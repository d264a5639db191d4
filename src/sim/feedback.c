/* Feedback: jobs that are submitted after others have ended (fields 17 and 18 of the Standard
 * Workload Format: preceding job and think time). A user looks at what came out of one job, thinks,
 * and submits the next one. Such a job is submitted its think time after its predecessor ended,
 * whatever its recorded submission time is.
 *
 * A predecessor stands before its followers in the workload, so jobs never wait in a circle. A
 * predecessor that was given up, or could never start, has ended as well: its user knows that
 * then. */
#include <stdlib.h>

#include "sim/internal.h"

struct numbered {
    int64_t number;
    uint32_t index;
};

static int compare(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static const struct numbered *find(const struct numbered *all, size_t count, int64_t number)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && all[low].number == number ? &all[low] : NULL;
}

static int refuse(struct sim *sim, const struct pleat_workload_job *job, const char *why)
{
    return pleat_error_set(sim->err, PLEAT_E_INVALID,
                           "job %lld: its preceding job is %lld, %s; correct column 17, or leave "
                           "feedback out",
                           (long long)job->number, (long long)job->preceding, why);
}

/* Ties a job to its predecessor, if that is in the workload. */
static int tie(struct sim *sim, const struct numbered *all, size_t index)
{
    const struct pleat_workload_jobs *jobs = &sim->workload->jobs;
    const struct pleat_workload_job *job = &jobs->items[index];
    const struct numbered *before = find(all, jobs->count, job->preceding);
    if (!before) {
        sim->totals->lost++;
        return 0;
    }
    if (before + 1 < all + jobs->count && before[1].number == before->number)
        return refuse(sim, job, "a number that several jobs have");
    if (before->index == index)
        return refuse(sim, job, "itself");
    if (before->index > index)
        return refuse(sim, job, "which is submitted after it");
    struct follower *followers = sim->followers;
    followers[index].follows = true;
    followers[index].next = followers[before->index].first;
    followers[before->index].first = (uint32_t)index;
    sim->outcomes[index] = (struct pleat_sim_outcome){.start_us = PLEAT_NEVER,
                                                      .end_us = PLEAT_NEVER,
                                                      .submit_us = job->submit_us,
                                                      .fate = PLEAT_SIM_LEFT};
    sim->totals->followers++;
    return 0;
}

static int tie_all(struct sim *sim)
{
    const struct pleat_workload_jobs *jobs = &sim->workload->jobs;
    struct numbered *all = calloc(jobs->count, sizeof(*all));
    int rc = 0;
    if (!all)
        return nomem(sim);
    for (size_t i = 0; i < jobs->count; i++) {
        all[i] = (struct numbered){jobs->items[i].number, (uint32_t)i};
        sim->followers[i].first = sim->followers[i].next = PLEAT_NONE;
    }
    qsort(all, jobs->count, sizeof(*all), compare);
    for (size_t i = 0; !rc && i < jobs->count; i++) {
        bool part = i > 0 && (jobs->items[i - 1].part & PLEAT_PART_FOLLOWS) != 0;
        if (jobs->items[i].preceding > 0 && !part)
            rc = tie(sim, all, i);
    }
    free(all);
    return rc;
}

int feedback_create(struct sim *sim)
{
    size_t count = sim->workload->jobs.count;
    if (!sim->options->feedback || count == 0)
        return 0;
    if (count >= PLEAT_NONE)
        return pleat_error_set(sim->err, PLEAT_E_TOOBIG, "too many jobs for feedback");
    sim->followers = calloc(count, sizeof(*sim->followers));
    return sim->followers ? tie_all(sim) : nomem(sim);
}

void feedback_destroy(struct sim *sim)
{
    free(sim->followers);
    pleat_array_finish(&sim->due);
}

int feedback_over(struct sim *sim, size_t index)
{
    int rc = 0;
    int64_t end_us = sim->outcomes[index].end_us;
    if (end_us == PLEAT_NEVER)
        end_us = sim->now_us;
    for (uint32_t next = sim->followers[index].first; !rc && next != PLEAT_NONE;
         next = sim->followers[next].next) {
        uint32_t handle = PLEAT_HEAP_NONE;
        int64_t at_us = end_us + sim->workload->jobs.items[next].think_us;
        sim->thinking++;
        rc = set_timer(sim, TIMER_SUBMIT, next, 0, at_us > sim->now_us ? at_us : sim->now_us,
                       &handle);
    }
    return rc;
}

/* Keeps the jobs that are due at this instant in reverse order of the workload: the last of the
 * array is submitted first. Other jobs of this instant are submitted in between. */
int feedback_due(struct sim *sim, uint32_t index)
{
    sim->thinking--;
    if (pleat_array_push(&sim->due, index))
        return nomem(sim);
    for (size_t i = sim->due.count - 1; i > 0 && sim->due.items[i] > sim->due.items[i - 1]; i--) {
        uint32_t other = sim->due.items[i - 1];
        sim->due.items[i - 1] = sim->due.items[i];
        sim->due.items[i] = other;
    }
    return 0;
}

/* gantt.c - a simulated schedule as the model of charts. The simulator only counts processors. Here
 * jobs get rows: at a growth the lowest free rows; at a shrink they give back their highest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sim/gantt.h"

#define NOT_DRAWN SIZE_MAX

/* The rows of all sites, one after another. */
struct rows {
    struct pleat_gantt *gantt;
    size_t *owner; /* for each row the index of the job drawn, + 1; 0: free */
    double *since_s;
    bool failed;
};

static bool overlaps(const struct pleat_sim_outcome *outcome, double from_s, double to_s)
{
    return outcome->start_us != PLEAT_NEVER && (double)outcome->start_us / 1e6 < to_s &&
           (outcome->end_us == PLEAT_NEVER || (double)outcome->end_us / 1e6 > from_s);
}

size_t pleat_sim_gantt_jobs(const struct pleat_workload *workload, const struct pleat_sim_run *run,
                            double from_s, double to_s)
{
    size_t count = 0;
    for (size_t i = 0; i < workload->jobs.count; i++)
        count += overlaps(&run->outcomes[i], from_s, to_s);
    return count;
}

static double seconds_or_nan(int64_t us)
{
    return us == PLEAT_NEVER ? (double)NAN : (double)us / 1e6;
}

/* Adds the jobs. *drawn: for each job of the workload its index in the chart. */
static int add_jobs(struct pleat_gantt *gantt, const struct pleat_workload *workload,
                    const struct pleat_sim_run *run, size_t *drawn)
{
    for (size_t i = 0; i < workload->jobs.count; i++) {
        const struct pleat_workload_job *job = &workload->jobs.items[i];
        drawn[i] = NOT_DRAWN;
        if (!overlaps(&run->outcomes[i], gantt->from_s, gantt->to_s))
            continue;
        struct pleat_gantt_job entry = {.job = job->number,
                                        .name = pleat_kind_name((enum pleat_job_kind)job->kind),
                                        .submit_s = (double)run->outcomes[i].submit_us / 1e6,
                                        .start_s = seconds_or_nan(run->outcomes[i].start_us),
                                        .end_s = seconds_or_nan(run->outcomes[i].end_us)};
        drawn[i] = gantt->jobs.count;
        if (pleat_array_push(&gantt->jobs, entry))
            return PLEAT_E_NOMEM;
    }
    return 0;
}

static int add_sites(struct pleat_gantt *gantt, const struct pleat_platform *platform)
{
    for (size_t i = 0; i < platform->sites.count; i++) {
        const struct pleat_sim_site *site = &platform->sites.items[i];
        struct pleat_gantt_node node = {
            .site = site->name, .row = gantt->rows, .slots = (int64_t)site->nodes * site->slots};
        gantt->rows += node.slots;
        if (pleat_array_push(&gantt->nodes, node))
            return PLEAT_E_NOMEM;
    }
    return 0;
}

/* Adds the interval in which a job had rows [first, first + count), until now. */
static void add_box(struct rows *rows, size_t node, int64_t first, int64_t count, double to_s)
{
    struct pleat_gantt *gantt = rows->gantt;
    struct pleat_gantt_interval interval = {.job = rows->owner[first] - 1,
                                            .use = PLEAT_GANTT_RUN,
                                            .node = node,
                                            .first = first - gantt->nodes.items[node].row,
                                            .row = first,
                                            .count = count,
                                            .from_s = rows->since_s[first],
                                            .to_s = to_s};
    if (interval.to_s <= gantt->from_s || interval.from_s >= gantt->to_s)
        return;
    if (pleat_array_push(&gantt->intervals, interval))
        rows->failed = true;
}

/* Takes the highest `count` rows back from a job. Neighbouring rows that it had for the same time
 * become one interval. */
static void give_back(struct rows *rows, size_t node, size_t job, int64_t count, double now_s)
{
    const struct pleat_gantt_node *site = &rows->gantt->nodes.items[node];
    int64_t row = site->row + site->slots;
    while (count > 0 && --row >= site->row) {
        if (rows->owner[row] != job + 1)
            continue;
        int64_t last = row;
        while (--count > 0 && row > site->row && rows->owner[row - 1] == job + 1 &&
               rows->since_s[row - 1] >= rows->since_s[last] &&
               rows->since_s[row - 1] <= rows->since_s[last])
            row--;
        add_box(rows, node, row, last - row + 1, now_s);
        for (int64_t r = row; r <= last; r++)
            rows->owner[r] = 0;
    }
}

static void take(struct rows *rows, size_t node, size_t job, int64_t count, double now_s)
{
    const struct pleat_gantt_node *site = &rows->gantt->nodes.items[node];
    for (int64_t row = site->row; count > 0 && row < site->row + site->slots; row++) {
        if (rows->owner[row])
            continue;
        rows->owner[row] = job + 1;
        rows->since_s[row] = now_s;
        count--;
    }
}

static int compare_changes(const void *left, const void *right)
{
    const struct pleat_sim_change *a = *(const struct pleat_sim_change *const *)left,
                                  *b = *(const struct pleat_sim_change *const *)right;
    if (a->time_us != b->time_us)
        return a->time_us < b->time_us ? -1 : 1;
    bool a_gives = a->to < a->from, b_gives = b->to < b->from;
    if (a_gives != b_gives)
        /* at one instant processors are given back before others are taken */
        return a_gives ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int assign(struct rows *rows, const struct pleat_sim_run *run, const size_t *drawn)
{
    size_t count = 0;
    const struct pleat_sim_change **changes = calloc(run->changes.count + 1, sizeof(*changes));
    if (!changes)
        return PLEAT_E_NOMEM;
    for (size_t i = 0; i < run->changes.count; i++)
        if (drawn[run->changes.items[i].job] != NOT_DRAWN &&
            run->changes.items[i].site < rows->gantt->nodes.count)
            changes[count++] = &run->changes.items[i];
    qsort(changes, count, sizeof(*changes), compare_changes);
    for (size_t i = 0; i < count; i++) {
        const struct pleat_sim_change *change = changes[i];
        double now_s = (double)change->time_us / 1e6;
        if (change->to > change->from)
            take(rows, change->site, drawn[change->job], change->to - change->from, now_s);
        else
            give_back(rows, change->site, drawn[change->job], change->from - change->to, now_s);
    }
    free(changes);
    for (size_t node = 0; node < rows->gantt->nodes.count; node++) /* jobs that have not ended */
        for (size_t job = 0; job < rows->gantt->jobs.count; job++)
            if (!isfinite(rows->gantt->jobs.items[job].end_s))
                give_back(rows, node, job, rows->gantt->nodes.items[node].slots, rows->gantt->to_s);
    return rows->failed ? PLEAT_E_NOMEM : 0;
}

int pleat_sim_gantt_build(struct pleat_gantt *gantt, const struct pleat_workload *workload,
                          const struct pleat_platform *platform, const struct pleat_sim_run *run,
                          double from_s, double to_s, struct pleat_error *err)
{
    struct rows rows = {.gantt = gantt};
    *gantt = (struct pleat_gantt){.origin_s = (double)workload->origin_us / 1e6,
                                  .whole = true,
                                  .from_s = from_s,
                                  .to_s = to_s > from_s ? to_s : from_s + 1};
    size_t *drawn = calloc(workload->jobs.count + 1, sizeof(*drawn));
    int rc = drawn ? add_sites(gantt, platform) : PLEAT_E_NOMEM;
    if (!rc)
        rc = add_jobs(gantt, workload, run, drawn);
    rows.owner = calloc((size_t)gantt->rows + 1, sizeof(*rows.owner));
    rows.since_s = calloc((size_t)gantt->rows + 1, sizeof(*rows.since_s));
    if (!rc)
        rc = rows.owner && rows.since_s ? assign(&rows, run, drawn) : PLEAT_E_NOMEM;
    free(rows.owner);
    free(rows.since_s);
    free(drawn);
    if (rc) {
        pleat_gantt_finish(gantt);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the drawing");
    }
    return 0;
}

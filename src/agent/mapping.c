#include "agent/mapping.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX
/* What a mapping must be better by, in per cent, before processes move for it: a move costs caches,
 * and measurements are not exact. */
#define BETTER_BY 10

struct work {
    const struct pleat_mapping_facts *facts;
    uint32_t processes, processors;
    /* of each process: its present processor as an index in the new partition, or NOWHERE */
    uint32_t *home;
    uint32_t *where; /* of each process: the result */
    uint32_t *other; /* of each process: a candidate */
    uint32_t *quota; /* of each processor: how many processes it gets */
    uint32_t *held;  /* of each processor: how many processes it has */
    uint64_t *sum;   /* of each processor: the load */
};

static const char *const names[] = {[PLEAT_MAPPING_ROUND_ROBIN] = "round-robin",
                                    [PLEAT_MAPPING_COMMUNICATION] = "communication",
                                    [PLEAT_MAPPING_BALANCE] = "balance"};

int pleat_mapping_parse(const char *name, enum pleat_mapping *by, struct pleat_error *err)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(name, names[i]) == 0) {
            *by = (enum pleat_mapping)i;
            return 0;
        }
    }
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "'%.40s' is no mapping of processes: round-robin, communication or "
                           "balance",
                           name);
}

/* ---- what is there, and how many each may have ---- */

static uint32_t nth(const struct pleat_mapping_partition *partition, uint32_t cpu, uint32_t which)
{
    for (uint32_t i = 0; i < partition->count; i++)
        if (partition->cpus[i] == cpu && which-- == 0)
            return i;
    return NOWHERE;
}

/* The index in the new partition of a processor of the old one: where a CPU is there n times, the
 * n'th stays the n'th. */
static uint32_t still_there(const struct pleat_mapping_facts *facts, uint32_t index)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < index; i++)
        before += facts->before.cpus[i] == facts->before.cpus[index];
    return nth(&facts->now, facts->before.cpus[index], before);
}

static void find_homes(struct work *work)
{
    const struct pleat_mapping_facts *facts = work->facts;
    for (uint32_t i = 0; i < work->processes; i++)
        work->home[i] = NOWHERE;
    for (uint32_t old = 0; facts->where_before && old < facts->before.count; old++) {
        uint32_t now = still_there(facts, old);
        for (uint32_t i = 0; now != NOWHERE && i < work->processes; i++)
            if (facts->where_before[i] == old)
                work->home[i] = now;
    }
}

static void count(const struct work *work, const uint32_t *where, uint32_t *held)
{
    memset(held, 0, work->processors * sizeof(*held));
    for (uint32_t i = 0; i < work->processes; i++)
        if (where[i] != NOWHERE)
            held[where[i]]++;
}

/* Gives each processor the same quota. The remainder goes first to processors that have more
 * processes than that now, so that fewest move. */
static void set_quotas(struct work *work)
{
    uint32_t each = work->processes / work->processors;
    uint32_t more = work->processes % work->processors;
    count(work, work->home, work->held);
    for (uint32_t c = 0; c < work->processors; c++)
        work->quota[c] = each;
    /* one more place here spares a process the move */
    for (uint32_t c = 0; more && c < work->processors; c++) {
        if (work->held[c] > each) {
            work->quota[c]++;
            more--;
        }
    }
    for (uint32_t c = 0; more && c < work->processors; c++) {
        if (work->quota[c] == each) {
            work->quota[c]++;
            more--;
        }
    }
}

/* ---- by rank ---- */

/* Sends the surplus of each processor away: the highest ranks, and first those that do not belong
 * there by rank. */
static void send_surplus_away(struct work *work)
{
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = work->processes; i-- > 0;) {
            uint32_t at = work->where[i];
            if (at == NOWHERE || work->held[at] <= work->quota[at] ||
                (pass == 0 && i % work->processors == at))
                continue;
            work->held[at]--;
            work->where[i] = NOWHERE;
        }
    }
}

static void settle_homeless(struct work *work)
{
    for (uint32_t i = 0; i < work->processes; i++) {
        uint32_t at = i % work->processors;
        if (work->where[i] == NOWHERE && work->held[at] < work->quota[at]) {
            work->where[i] = at;
            work->held[at]++;
        }
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < work->processes; i++) {
        if (work->where[i] != NOWHERE)
            continue;
        while (work->held[at] >= work->quota[at])
            at++; /* in range: the quotas sum up to the number of processes */
        work->where[i] = at;
        work->held[at]++;
    }
}

static void by_rank(struct work *work)
{
    memcpy(work->where, work->home, work->processes * sizeof(*work->where));
    count(work, work->where, work->held);
    send_surplus_away(work);
    settle_homeless(work);
}

/* ---- groups get the processors where most of their processes are ---- */

struct overlap {
    uint32_t group, processor, processes;
};

static int by_overlap(const void *left, const void *right)
{
    const struct overlap *a = left;
    const struct overlap *b = right;
    if (a->processes != b->processes)
        return a->processes < b->processes ? 1 : -1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->processor > b->processor) - (a->processor < b->processor);
}

static int by_place(const void *left, const void *right)
{
    const struct overlap *a = left;
    const struct overlap *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->processor > b->processor) - (a->processor < b->processor);
}

/* Lists the pairs (group, home) of all processes, each pair once, with the number of its processes.
 */
static uint32_t list_overlaps(const struct work *work, struct overlap *pairs)
{
    uint32_t used = 0;
    uint32_t different = 0;
    for (uint32_t i = 0; i < work->processes; i++)
        if (work->home[i] != NOWHERE)
            pairs[used++] = (struct overlap){work->other[i], work->home[i], 1};
    qsort(pairs, used, sizeof(*pairs), by_place);
    for (uint32_t i = 0; i < used; i++) {
        if (different && by_place(&pairs[different - 1], &pairs[i]) == 0)
            pairs[different - 1].processes++;
        else
            pairs[different++] = pairs[i];
    }
    qsort(pairs, different, sizeof(*pairs), by_overlap);
    return different;
}

/* Turns the groups in work->other into processors. The sizes of groups do not matter: they are
 * equal or differ by one. */
static int place_groups(struct work *work)
{
    struct overlap *pairs = calloc(work->processes, sizeof(*pairs));
    uint32_t *place = calloc(work->processors, sizeof(*place));
    bool *taken = calloc(work->processors, sizeof(*taken));
    if (pairs && place && taken) {
        uint32_t different = list_overlaps(work, pairs);
        for (uint32_t g = 0; g < work->processors; g++)
            place[g] = NOWHERE;
        for (uint32_t i = 0; i < different; i++) {
            if (place[pairs[i].group] == NOWHERE && !taken[pairs[i].processor]) {
                place[pairs[i].group] = pairs[i].processor;
                taken[pairs[i].processor] = true;
            }
        }
        uint32_t next = 0;
        for (uint32_t g = 0; g < work->processors; g++) {
            while (place[g] == NOWHERE && taken[next])
                next++;
            if (place[g] == NOWHERE) {
                place[g] = next;
                taken[next] = true;
            }
        }
        for (uint32_t i = 0; i < work->processes; i++)
            work->other[i] = place[work->other[i]];
    }
    int result = pairs && place && taken ? 0 : PLEAT_E_NOMEM;
    free(pairs);
    free(place);
    free(taken);
    return result;
}

/* ---- by communication ---- */

static uint64_t between(const struct work *work, uint32_t a, uint32_t b)
{
    const struct pleat_mapping_facts *facts = work->facts;
    uint64_t there = facts->traffic(facts->arg, a, b) / 2;
    /* halves, so that the sum does not overflow */
    return there + facts->traffic(facts->arg, b, a) / 2;
}

/* Half of the messages that stay on a processor under a mapping. */
static double kept_inside(const struct work *work, const uint32_t *where)
{
    double inside = 0;
    for (uint32_t a = 0; a < work->processes; a++)
        for (uint32_t b = a + 1; b < work->processes; b++)
            if (where[a] == where[b])
                inside += (double)between(work, a, b);
    return inside;
}

/* Of the processes in no group, the one that gains most by joining this group: its messages to the
 * group stay inside, those to the other processes in no group do not. Of several the lowest rank.
 */
static uint32_t best_of_the_rest(const struct work *work, const double *inside, const double *left)
{
    uint32_t best = NOWHERE;
    for (uint32_t i = 0; i < work->processes; i++)
        if (work->other[i] == NOWHERE &&
            (best == NOWHERE || inside[i] - left[i] > inside[best] - left[best]))
            best = i;
    return best;
}

static uint32_t busiest_of_the_rest(const struct work *work, const double *left)
{
    uint32_t best = NOWHERE;
    for (uint32_t i = 0; i < work->processes; i++)
        if (work->other[i] == NOWHERE && (best == NOWHERE || left[i] > left[best]))
            best = i;
    return best;
}

/* Each group begins with the process that has most messages with the others in no group, and is
 * filled with the processes that gain most. inside, left: for each process, its messages to and
 * from the group that is being filled, and to and from the processes in no group. */
static void group_by_traffic(struct work *work, double *inside, double *left)
{
    for (uint32_t i = 0; i < work->processes; i++) {
        work->other[i] = NOWHERE;
        for (uint32_t j = 0; j < work->processes; j++)
            if (i != j)
                left[i] += (double)between(work, i, j);
    }
    for (uint32_t g = 0; g < work->processors; g++) {
        memset(inside, 0, work->processes * sizeof(*inside));
        for (uint32_t n = 0; n < work->quota[g]; n++) {
            uint32_t taken =
                n ? best_of_the_rest(work, inside, left) : busiest_of_the_rest(work, left);
            work->other[taken] = g;
            for (uint32_t i = 0; i < work->processes; i++) {
                double sent = i == taken ? 0 : (double)between(work, taken, i);
                inside[i] += sent;
                left[i] -= sent;
            }
        }
    }
}

static int by_communication(struct work *work)
{
    by_rank(work);
    if (!work->facts->traffic)
        return 0;
    double *sums = calloc(2 * (size_t)work->processes, sizeof(*sums));
    if (!sums)
        return PLEAT_E_NOMEM;
    group_by_traffic(work, sums, sums + work->processes);
    free(sums);
    double found = kept_inside(work, work->other);
    if (found <= kept_inside(work, work->where) * (1 + BETTER_BY / 100.0))
        return 0;
    int result = place_groups(work);
    if (!result)
        memcpy(work->where, work->other, work->processes * sizeof(*work->where));
    return result;
}

/* ---- by balance ---- */

static uint64_t useful(const struct work *work, uint32_t process)
{
    /* a share, so that sums do not overflow */
    return work->facts->useful_ns[process] / work->processes;
}

static uint64_t heaviest(const struct work *work, const uint32_t *where)
{
    uint64_t most = 0;
    memset(work->sum, 0, work->processors * sizeof(*work->sum));
    for (uint32_t i = 0; i < work->processes; i++) {
        work->sum[where[i]] += useful(work, i);
        if (work->sum[where[i]] > most)
            most = work->sum[where[i]];
    }
    return most;
}

struct heavy {
    uint64_t useful;
    uint32_t process;
};

static int longest_first(const void *left, const void *right)
{
    const struct heavy *a = left;
    const struct heavy *b = right;
    if (a->useful != b->useful)
        return a->useful < b->useful ? 1 : -1;
    return (a->process > b->process) - (a->process < b->process);
}

/* Processes in the order of their load, the largest first: each goes to the processor with the
 * smallest load; of equal ones to the one with fewest processes. */
static int spread_longest_first(struct work *work)
{
    struct heavy *order = calloc(work->processes, sizeof(*order));
    if (!order)
        return PLEAT_E_NOMEM;
    for (uint32_t i = 0; i < work->processes; i++)
        order[i] = (struct heavy){useful(work, i), i};
    qsort(order, work->processes, sizeof(*order), longest_first);
    memset(work->sum, 0, work->processors * sizeof(*work->sum));
    memset(work->held, 0, work->processors * sizeof(*work->held));
    for (uint32_t i = 0; i < work->processes; i++) {
        uint32_t best = 0;
        for (uint32_t c = 1; c < work->processors; c++)
            if (work->sum[c] < work->sum[best] ||
                (work->sum[c] == work->sum[best] && work->held[c] < work->held[best]))
                best = c;
        work->other[order[i].process] = best;
        work->sum[best] += order[i].useful;
        work->held[best]++;
    }
    free(order);
    return 0;
}

static int by_balance(struct work *work)
{
    by_rank(work);
    if (!work->facts->useful_ns)
        return 0;
    int result = spread_longest_first(work);
    if (result)
        return result;
    double found = (double)heaviest(work, work->other);
    if (found * (1 + BETTER_BY / 100.0) >= (double)heaviest(work, work->where))
        return 0;
    result = place_groups(work);
    if (!result)
        memcpy(work->where, work->other, work->processes * sizeof(*work->where));
    return result;
}

/* ---- all ---- */

static int make(enum pleat_mapping by, struct work *work)
{
    find_homes(work);
    set_quotas(work);
    switch (by) {
    case PLEAT_MAPPING_COMMUNICATION:
        return by_communication(work);
    case PLEAT_MAPPING_BALANCE:
        return by_balance(work);
    case PLEAT_MAPPING_ROUND_ROBIN:
        break;
    }
    by_rank(work);
    return 0;
}

int pleat_mapping_make(enum pleat_mapping by, const struct pleat_mapping_facts *facts,
                       uint32_t *where, struct pleat_error *err)
{
    uint32_t n = facts->processes;
    uint32_t p = facts->now.count;
    if (n == 0 || p == 0)
        return pleat_error_set(err, PLEAT_E_INVALID, "nothing to map, or nowhere to map it to");
    uint32_t *numbers = calloc(3 * (size_t)n + 2 * (size_t)p, sizeof(*numbers));
    uint64_t *sum = calloc(p, sizeof(*sum));
    int result = PLEAT_E_NOMEM;
    if (numbers && sum) {
        struct work work = {.facts = facts,
                            .processes = n,
                            .processors = p,
                            .home = numbers,
                            .where = numbers + n,
                            .other = numbers + 2 * (size_t)n,
                            .quota = numbers + 3 * (size_t)n,
                            .held = numbers + 3 * (size_t)n + p,
                            .sum = sum};
        result = make(by, &work);
        if (!result)
            memcpy(where, work.where, n * sizeof(*where));
    }
    free(numbers);
    free(sum);
    return result ? pleat_error_set(err, result, "no memory to map %u processes", n) : 0;
}

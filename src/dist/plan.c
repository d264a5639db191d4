#include "dist/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct pleat_dist *dist)
{
    return dist->name ? dist->name : "array";
}

static int check_pair(const struct pleat_dist *old, const struct pleat_dist *new,
                      struct pleat_error *err)
{
    int failed = pleat_dist_check(old, err);
    if (!failed)
        failed = pleat_dist_check(new, err);
    if (failed)
        return failed;
    if (old->dims != new->dims)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s has %d dimensions before the redistribution, %d after it",
                               name_of(new), old->dims, new->dims);
    if (old->element_bytes != new->element_bytes)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s has elements of %" PRId64
                               " bytes before the redistribution, of %" PRId64 " after it",
                               name_of(new), old->element_bytes, new->element_bytes);
    for (int d = 0; d < old->dims; d++)
        if (old->dim[d].extent != new->dim[d].extent)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "%s: dimension %d has %" PRId64
                                   " elements before the redistribution, %" PRId64 " after it",
                                   name_of(new), d, old->dim[d].extent, new->dim[d].extent);
    return 0;
}

static const struct pleat_dist *peers_of(const struct pleat_dist_plan *plan)
{
    return plan->sends ? &plan->new : &plan->old;
}

/* ---- peers ---- */

/* Peer `index` as one index for each dimension, and which of the copies it is. */
static size_t split_index(const struct pleat_dist_plan *plan, size_t index,
                          size_t at[PLEAT_DIST_DIMS])
{
    for (int d = plan->old.dims; d-- > 0;) {
        at[d] = index % plan->dim[d].peers;
        index /= plan->dim[d].peers;
    }
    return index;
}

void pleat_dist_plan_peer(const struct pleat_dist_plan *plan, size_t index,
                          struct pleat_dist_plan_peer *peer)
{
    size_t at[PLEAT_DIST_DIMS];
    int coordinates[PLEAT_DIST_DIMS] = {0};
    size_t copy = split_index(plan, index, at);
    peer->bytes = plan->old.element_bytes;
    for (int d = 0; d < plan->old.dims; d++) {
        coordinates[d] = plan->dim[d].coordinate[at[d]];
        peer->part[d] = &plan->dim[d].peer[at[d]];
        peer->bytes *= peer->part[d]->elements;
    }
    peer->rank = plan->copies > 1 ? (int)copy : pleat_dist_rank(peers_of(plan), coordinates);
}

/* The index of a coordinate among a dimension's peers, which are in ascending order. */
static size_t find_coordinate(const struct pleat_runs_dim *runs, int coordinate)
{
    size_t low = 0;
    size_t high = runs->peers;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (runs->coordinate[middle] < coordinate)
            low = middle + 1;
        else
            high = middle;
    }
    return low < runs->peers && runs->coordinate[low] == coordinate ? low : SIZE_MAX;
}

size_t pleat_dist_plan_find(const struct pleat_dist_plan *plan, int rank)
{
    int coordinates[PLEAT_DIST_DIMS];
    size_t index = 0;
    if (plan->peers == 0 || !pleat_dist_coordinates(peers_of(plan), rank, coordinates))
        return SIZE_MAX;
    if (plan->copies > 1)
        return (size_t)rank;
    if (pleat_dist_is_replicated(peers_of(plan)) && rank != 0)
        return SIZE_MAX; /* the copy that counts is rank 0's */
    for (int d = 0; d < plan->old.dims; d++) {
        size_t at = find_coordinate(&plan->dim[d], coordinates[d]);
        if (at == SIZE_MAX)
            return SIZE_MAX;
        index = index * plan->dim[d].peers + at;
    }
    return index;
}

int pleat_dist_plan_order(const struct pleat_dist_plan *plan, int step)
{
    return pleat_dist_fastest(&plan->new, step);
}

/* ---- making ---- */

/* How many peers there are, and what they get in all. */
static int count(struct pleat_dist_plan *plan, struct pleat_error *err)
{
    size_t peers = plan->copies;
    bool too_many = false;
    plan->bytes = plan->old.element_bytes;
    for (int d = 0; d < plan->old.dims; d++) {
        too_many |= __builtin_mul_overflow(peers, plan->dim[d].peers, &peers);
        int64_t elements = 0; /* not dim.elements: peers' halos overlap */
        for (size_t i = 0; i < plan->dim[d].peers; i++)
            elements += plan->dim[d].peer[i].elements;
        too_many |= __builtin_mul_overflow(plan->bytes, elements, &plan->bytes);
    }
    too_many |= __builtin_mul_overflow(plan->bytes, (int64_t)plan->copies, &plan->bytes);
    if (too_many)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "%s: what rank %d exchanges does not fit into 63 bits",
                               name_of(&plan->new), plan->rank);
    plan->peers = peers;
    return 0;
}

static int make(struct pleat_dist_plan *plan, const int coordinates[PLEAT_DIST_DIMS],
                struct pleat_error *err)
{
    const struct pleat_dist *mine = plan->sends ? &plan->old : &plan->new;
    for (int d = 0; d < plan->old.dims; d++) {
        const struct pleat_runs_side own = {&mine->dim[d], plan->halos && !plan->sends};
        const struct pleat_runs_side peer = {&peers_of(plan)->dim[d], plan->halos && plan->sends};
        int failed = pleat_runs_make(&own, coordinates[d], &peer, &plan->dim[d], err);
        if (failed)
            return pleat_error_prefix(err, failed, "%s: dimension %d", name_of(mine), d);
    }
    return count(plan, err);
}

static int plan_rank(const struct pleat_dist *old, const struct pleat_dist *new, bool sends,
                     int rank, const int64_t *allocated, unsigned flags,
                     struct pleat_dist_plan *plan, struct pleat_error *err)
{
    int coordinates[PLEAT_DIST_DIMS];
    *plan = (struct pleat_dist_plan){.sends = sends, .rank = rank, .copies = 1};
    int failed = check_pair(old, new, err);
    if (failed)
        return failed;
    plan->old = *old;
    plan->new = *new;
    plan->halos = flags & PLEAT_DIST_PLAN_HALOS;
    const struct pleat_dist *mine = sends ? &plan->old : &plan->new;
    failed = pleat_dist_layout(mine, rank, allocated, &plan->mine, err);
    if (failed)
        return failed;
    if (plan->mine.bytes == 0 || !pleat_dist_coordinates(mine, rank, coordinates))
        return 0;
    if (sends && pleat_dist_is_replicated(old) && rank != 0)
        return 0;
    if (sends && pleat_dist_is_replicated(new))
        plan->copies = (size_t) new->ranks;
    failed = make(plan, coordinates, err);
    if (failed)
        pleat_dist_plan_finish(plan);
    return failed;
}

int pleat_dist_plan_receive(const struct pleat_dist *old, const struct pleat_dist *new, int rank,
                            const int64_t *allocated, unsigned flags, struct pleat_dist_plan *plan,
                            struct pleat_error *err)
{
    return plan_rank(old, new, false, rank, allocated, flags, plan, err);
}

int pleat_dist_plan_send(const struct pleat_dist *old, const struct pleat_dist *new, int rank,
                         const int64_t *allocated, unsigned flags, struct pleat_dist_plan *plan,
                         struct pleat_error *err)
{
    return plan_rank(old, new, true, rank, allocated, flags, plan, err);
}

void pleat_dist_plan_finish(struct pleat_dist_plan *plan)
{
    for (int d = 0; d < PLEAT_DIST_DIMS; d++)
        pleat_runs_finish(&plan->dim[d]);
    plan->peers = 0;
}

/* ---- what moves in all ---- */

/* What each of the new processes of a dimension shares with the old ones: no more than its runs. */
static int share(const struct pleat_dim *old, const struct pleat_dim *new,
                 struct pleat_runs_dim **shared, struct pleat_error *err)
{
    const struct pleat_runs_side from = {old, false};
    const struct pleat_runs_side to = {new, false};
    *shared = calloc((size_t) new->processes, sizeof(**shared));
    if (!*shared) {
        pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the plan of a redistribution");
        return PLEAT_E_NOMEM;
    }
    for (int i = 0; i < new->processes; i++) {
        int failed = pleat_runs_make(&to, i, &from, &(*shared)[i], err);
        if (failed)
            return failed;
    }
    return 0;
}

/* What ranks have before and after, in elements. */
static int64_t count_in_place(const struct pleat_dist *old, const struct pleat_dist *new,
                              struct pleat_runs_dim *const *shared)
{
    int from[PLEAT_DIST_DIMS];
    int to[PLEAT_DIST_DIMS];
    int64_t sum = 0;
    int ranks = pleat_dist_is_replicated(old) ? 1 : pleat_dist_grid_size(old);
    for (int rank = 0; rank < ranks; rank++) {
        int64_t elements = 1;
        if (!pleat_dist_coordinates(old, rank, from) || !pleat_dist_coordinates(new, rank, to))
            continue;
        for (int d = 0; d < old->dims; d++) {
            const struct pleat_runs_dim *runs = &shared[d][to[d]];
            size_t at = find_coordinate(runs, from[d]);
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): share() has made all of them */
            elements *= at == SIZE_MAX ? 0 : runs->peer[at].elements;
        }
        sum += elements;
    }
    return sum;
}

int pleat_dist_plan_moved(const struct pleat_dist *old, const struct pleat_dist *new,
                          int64_t *moved, struct pleat_error *err)
{
    struct pleat_runs_dim *shared[PLEAT_DIST_DIMS] = {NULL};
    int64_t wanted = 0;
    int failed = check_pair(old, new, err);
    for (int d = 0; !failed && d < old->dims; d++)
        failed = share(&old->dim[d], &new->dim[d], &shared[d], err);
    if (!failed &&
        __builtin_mul_overflow(pleat_dist_bytes(new),
                               pleat_dist_is_replicated(new) ? (int64_t) new->ranks : 1, &wanted))
        failed = pleat_error_set(err, PLEAT_E_TOOBIG, "%s: its copies do not fit into 63 bits",
                                 name_of(new));
    if (!failed)
        *moved = wanted - count_in_place(old, new, shared) * new->element_bytes;
    for (int d = 0; d < PLEAT_DIST_DIMS; d++) {
        for (int i = 0; shared[d] && i < new->dim[d].processes; i++)
            pleat_runs_finish(&shared[d][i]);
        free(shared[d]);
    }
    return failed;
}

#include "dist/runs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

PLEAT_ARRAY(run_array, struct pleat_index_run);
PLEAT_ARRAY(list_array, struct pleat_runs);

/* A list under construction; where its runs begin. */
struct maker {
    struct pleat_runs_side mine, peer;
    int coordinate;
    struct run_array runs;
    struct list_array lists;
};

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The period of both sides in an interval; its length where nothing repeats in it. */
static int64_t period_of(const struct maker *maker, int64_t length)
{
    bool mine = pleat_dim_is_cyclic(maker->mine.dim);
    bool peer = pleat_dim_is_cyclic(maker->peer.dim);
    int64_t a = mine ? pleat_dim_cycle(maker->mine.dim) : 1;
    int64_t b = peer ? pleat_dim_cycle(maker->peer.dim) : 1;
    int64_t period;
    if (!mine && !peer)
        return length;
    if (__builtin_mul_overflow(a / gcd(a, b), b, &period) || period > length)
        return length;
    return period;
}

/* What a process of a side that is not cyclic has, halos inside the array included. */
static struct pleat_interval reach_of(const struct pleat_runs_side *side, int coordinate)
{
    struct pleat_interval own = pleat_dim_interval(side->dim, coordinate);
    if (!side->halos || own.first == own.end)
        return own;
    own.first = own.first > side->dim->halo_low ? own.first - side->dim->halo_low : 0;
    own.end = side->dim->extent - own.end > side->dim->halo_high ? own.end + side->dim->halo_high
                                                                 : side->dim->extent;
    return own;
}

/* The index in memory. */
static int64_t place_of(const struct pleat_runs_side *side, int coordinate, int64_t global)
{
    if (pleat_dim_is_cyclic(side->dim))
        return pleat_dim_local(side->dim, global);
    return global - pleat_dim_interval(side->dim, coordinate).first + side->dim->halo_low;
}

static int64_t step_of(const struct pleat_runs_side *side, int64_t period, int64_t length)
{
    if (period == length)
        return 0;
    return pleat_dim_is_cyclic(side->dim) ? period / side->dim->processes : period;
}

/* Appends a run, or lengthens the last one where it goes on on both sides. `begun`: the list's
 * first. */
static int push(struct maker *maker, size_t begun, struct pleat_index_run run)
{
    struct run_array *runs = &maker->runs;
    struct pleat_index_run *last = runs->count > begun ? &runs->items[runs->count - 1] : NULL;
    if (last && last->whose == run.whose && last->global + last->length == run.global &&
        last->mine + last->length == run.mine && last->peer + last->length == run.peer) {
        last->length += run.length;
        return 0;
    }
    if (runs->count >= PLEAT_RUNS_MAX)
        return PLEAT_E_TOOBIG;
    run.before = last ? last->before + last->length : 0;
    return pleat_array_push(runs, run);
}

/* The runs of one of my blocks, which ends at `end`, with the peers' blocks. */
static int push_block(struct maker *maker, size_t begun, int64_t first, int64_t end, int peer)
{
    bool cyclic = pleat_dim_is_cyclic(maker->peer.dim);
    for (int64_t stop; first < end; first = stop) {
        int owner = cyclic ? pleat_dim_owner(maker->peer.dim, first) : peer;
        stop = cyclic ? pleat_dim_block_end(maker->peer.dim, first) : end;
        stop = stop < end ? stop : end;
        const struct pleat_index_run run = {.global = first,
                                            .length = stop - first,
                                            .mine =
                                                place_of(&maker->mine, maker->coordinate, first),
                                            .peer = place_of(&maker->peer, owner, first),
                                            .whose = owner};
        int failed = push(maker, begun, run);
        if (failed)
            return failed;
    }
    return 0;
}

/* My elements before `global`, counted from any fixed index that is a block's end. */
static int64_t mine_before(const struct maker *maker, int64_t global)
{
    const struct pleat_dim *dim = maker->mine.dim;
    if (!pleat_dim_is_cyclic(dim))
        return global;
    struct pleat_dim shorter = *dim;
    shorter.extent = global;
    return pleat_dim_count(&shorter, maker->coordinate);
}

/* A list: mine from first to end - 1, where the peers are cyclic or one peer has all. */
static int push_list(struct maker *maker, int64_t first, int64_t end, int peer)
{
    bool cyclic = pleat_dim_is_cyclic(maker->mine.dim);
    int64_t period = period_of(maker, end - first);
    int64_t stop = first + period;
    size_t begun = maker->runs.count;
    for (int64_t at = first; at < stop;) {
        int64_t block_end = stop;
        if (cyclic) {
            at = pleat_dim_next(maker->mine.dim, maker->coordinate, at);
            if (at >= stop)
                break;
            block_end = pleat_dim_block_end(maker->mine.dim, at);
            block_end = block_end < stop ? block_end : stop;
        }
        int failed = push_block(maker, begun, at, block_end, peer);
        if (failed)
            return failed;
        at = block_end;
    }
    if (maker->runs.count == begun)
        return 0;
    const struct pleat_index_run *last = &maker->runs.items[maker->runs.count - 1];
    const struct pleat_runs list = {.count = maker->runs.count - begun,
                                    .elements = mine_before(maker, end) - mine_before(maker, first),
                                    .per_period = last->before + last->length,
                                    .mine_step = step_of(&maker->mine, period, end - first),
                                    .peer_step = step_of(&maker->peer, period, end - first)};
    return pleat_array_push(&maker->lists, list);
}

/* All lists: one, or one for each peer whose block is contiguous. */
static int push_lists(struct maker *maker)
{
    struct pleat_interval own = {0, maker->mine.dim->extent};
    if (!pleat_dim_is_cyclic(maker->mine.dim))
        own = reach_of(&maker->mine, maker->coordinate);
    if (pleat_dim_is_cyclic(maker->peer.dim))
        return own.first < own.end ? push_list(maker, own.first, own.end, -1) : 0;
    for (int peer = 0; peer < maker->peer.dim->processes; peer++) {
        struct pleat_interval other = reach_of(&maker->peer, peer);
        int64_t first = own.first > other.first ? own.first : other.first;
        int64_t end = own.end < other.end ? own.end : other.end;
        int failed = first < end ? push_list(maker, first, end, peer) : 0;
        if (failed)
            return failed;
    }
    return 0;
}

/* The elements of a list that are in one peer's runs, of which `list` has the first period. */
static int64_t elements_of(const struct pleat_runs *list, const struct pleat_runs *whole,
                           const struct pleat_index_run *in_whole)
{
    int64_t elements = whole->elements / whole->per_period * list->per_period;
    int64_t rest = whole->elements % whole->per_period;
    for (size_t i = 0; i < list->count; i++) {
        int64_t more = rest - in_whole[i].before;
        if (more > 0)
            elements += more < list->run[i].length ? more : list->run[i].length;
    }
    return elements;
}

/* Makes the list of one peer: `count` runs at store[1] + first, which are in order. `before` is
 * still that of the whole list. */
static void make_peer(struct pleat_runs_dim *runs, const struct pleat_runs *whole, int coordinate,
                      size_t first, size_t count)
{
    struct pleat_index_run *run = runs->store[1] + first;
    struct pleat_runs list = *whole;
    list.run = run;
    list.count = count;
    list.per_period = 0;
    for (size_t i = 0; i < count; i++)
        list.per_period += run[i].length;
    list.elements = elements_of(&list, whole, run);
    int64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        run[i].before = before;
        before += run[i].length;
        run[i].whose = (int)runs->peers;
    }
    runs->coordinate[runs->peers] = coordinate;
    runs->peer[runs->peers++] = list;
}

/* One list with many peers: sorts its runs by peer. `where`: processes + 1 zeros. */
static void part_list(struct pleat_runs_dim *runs, int processes, size_t *where)
{
    const struct pleat_runs *whole = &runs->all[0];
    for (size_t i = 0; i < whole->count; i++)
        where[whole->run[i].whose + 1]++;
    for (int p = 0; p < processes; p++)
        where[p + 1] += where[p];
    for (size_t i = 0; i < whole->count; i++)
        runs->store[1][where[whole->run[i].whose]++] = whole->run[i];
    size_t first = 0;
    for (int p = 0; p < processes; p++) {
        int before = (int)runs->peers;
        if (where[p] > first)
            make_peer(runs, whole, p, first, where[p] - first);
        /* from here on `where` is the index of the peer */
        size_t end = where[p];
        where[p] = (size_t)before;
        first = end;
    }
    for (size_t i = 0; i < whole->count; i++)
        runs->store[0][i].whose = (int)where[runs->store[0][i].whose];
}

static int part(struct pleat_runs_dim *runs, const struct pleat_dim *peer)
{
    size_t most = pleat_dim_is_cyclic(peer) ? (size_t)peer->processes : runs->lists;
    size_t count = 0;
    for (size_t i = 0; i < runs->lists; i++)
        count += runs->all[i].count;
    runs->store[1] = calloc(count + 1, sizeof(*runs->store[1]));
    runs->coordinate = malloc((most + 1) * sizeof(*runs->coordinate));
    runs->peer = malloc((most + 1) * sizeof(*runs->peer));
    if (!runs->store[1] || !runs->coordinate || !runs->peer)
        return PLEAT_E_NOMEM;
    if (runs->lists == 1 && pleat_dim_is_cyclic(peer)) {
        size_t *where = calloc(most + 1, sizeof(*where));
        if (!where)
            return PLEAT_E_NOMEM;
        part_list(runs, peer->processes, where);
        free(where);
        return 0;
    }
    size_t first = 0;
    if (count)
        memcpy(runs->store[1], runs->store[0], count * sizeof(*runs->store[1]));
    for (size_t i = 0; i < runs->lists; i++) {
        int coordinate = runs->all[i].run[0].whose;
        for (size_t j = 0; j < runs->all[i].count; j++)
            runs->store[0][first + j].whose = (int)runs->peers;
        make_peer(runs, &runs->all[i], coordinate, first, runs->all[i].count);
        first += runs->all[i].count;
    }
    return 0;
}

/* Takes over the maker's arrays. */
static void take(struct maker *maker, struct pleat_runs_dim *runs)
{
    size_t first = 0;
    runs->store[0] = maker->runs.items;
    runs->all = maker->lists.items;
    runs->lists = maker->lists.count;
    for (size_t i = 0; i < runs->lists; i++) {
        runs->all[i].run = runs->store[0] + first;
        first += runs->all[i].count;
        runs->elements += runs->all[i].elements;
    }
}

int pleat_runs_make(const struct pleat_runs_side *mine, int coordinate,
                    const struct pleat_runs_side *peer, struct pleat_runs_dim *runs,
                    struct pleat_error *err)
{
    struct maker maker = {.mine = *mine, .peer = *peer, .coordinate = coordinate};
    *runs = (struct pleat_runs_dim){0};
    int failed = push_lists(&maker);
    take(&maker, runs);
    if (!failed)
        failed = part(runs, peer->dim);
    if (!failed)
        return 0;
    pleat_runs_finish(runs);
    if (failed == PLEAT_E_TOOBIG)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "a dimension of %" PRId64
                               " indices would move in more than %zu different runs; choose block "
                               "sizes that have more in common",
                               mine->dim->extent, PLEAT_RUNS_MAX);
    return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the plan of a redistribution");
}

void pleat_runs_finish(struct pleat_runs_dim *runs)
{
    free(runs->all);
    free(runs->coordinate);
    free(runs->peer);
    free(runs->store[0]);
    free(runs->store[1]);
    *runs = (struct pleat_runs_dim){0};
}

struct pleat_runs_place pleat_runs_find(const struct pleat_runs *runs, int64_t element)
{
    int64_t rest = element % runs->per_period;
    size_t low = 0;
    size_t high = runs->count - 1;
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;
        if (runs->run[middle].before <= rest)
            low = middle;
        else
            high = middle - 1;
    }
    return (struct pleat_runs_place){element / runs->per_period, low, rest - runs->run[low].before};
}

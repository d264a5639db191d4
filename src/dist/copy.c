#include "dist/copy.h"

#include <stdlib.h>
#include <string.h>

#include "dist/strided.h"

/* How much of the destination is written before the next run's pieces are written: it stays in the
 * first level of the cache meanwhile. */
#define CHUNK_BYTES 8192

/* ---- a row: one list of runs of the fastest dimension ---- */

/* Which of a run's numbers says where it is. */
enum place { MINE, PEER, PACKED };

/* One end of a copy. */
struct end {
    enum place place;
    char *base;     /* written through `to` only */
    int64_t shift;  /* the index that is at `base` */
    int64_t stride; /* of an index, in bytes */
};

struct row {
    const struct pleat_runs *list;
    int64_t unit;  /* bytes of an element */
    int64_t scale; /* elements that one index of the list stands for */
    struct end to;
    const struct end *from; /* of each of the dimension's peers, or of the only one */
    bool only;
};

static int64_t index_of(const struct pleat_index_run *run, enum place place)
{
    return place == MINE ? run->mine : place == PEER ? run->peer : run->before;
}

static int64_t step_of(const struct pleat_runs *list, enum place place)
{
    return place == MINE ? list->mine_step : place == PEER ? list->peer_step : list->per_period;
}

static const struct end *from_of(const struct row *row, const struct pleat_index_run *run)
{
    return &row->from[row->only ? 0 : run->whose];
}

/* Where element `in_run` of a run is in a period. */
static char *address(const struct row *row, const struct end *end,
                     const struct pleat_index_run *run, int64_t period, int64_t in_run)
{
    int64_t index = index_of(run, end->place) + period * step_of(row->list, end->place);
    return end->base + (index * row->scale + in_run - end->shift) * end->stride;
}

static bool is_contiguous(const struct row *row, const struct end *from)
{
    return row->to.stride == row->unit && from->stride == row->unit;
}

static void copy_piece(const struct row *row, const struct pleat_index_run *run, int64_t period,
                       int64_t in_run, int64_t count)
{
    const struct end *from = from_of(row, run);
    char *to = address(row, &row->to, run, period, in_run);
    const char *source = address(row, from, run, period, in_run);
    if (is_contiguous(row, from))
        pleat_copy_strided(to, 0, source, 0, (size_t)(count * row->unit), 1);
    else
        pleat_copy_strided(to, row->to.stride, source, from->stride, (size_t)row->unit, count);
}

/* One run in some periods. */
static void copy_run(const struct row *row, const struct pleat_index_run *run, int64_t period,
                     int64_t count)
{
    const struct end *from = from_of(row, run);
    if (!is_contiguous(row, from)) {
        for (int64_t i = 0; i < count; i++)
            copy_piece(row, run, period + i, 0, run->length * row->scale);
        return;
    }
    int64_t bytes = row->scale * row->unit;
    pleat_copy_strided(address(row, &row->to, run, period, 0),
                       step_of(row->list, row->to.place) * bytes,
                       address(row, from, run, period, 0), step_of(row->list, from->place) * bytes,
                       (size_t)(run->length * bytes), count);
}

/* Whole periods, in the order of the destination but for what is within a chunk. */
static void copy_periods(const struct row *row, int64_t period, int64_t count)
{
    int64_t bytes = step_of(row->list, row->to.place) * row->scale * row->unit;
    int64_t chunk = bytes > 0 && bytes < CHUNK_BYTES ? CHUNK_BYTES / bytes : 1;
    for (int64_t end = period + count; period < end; period += chunk) {
        int64_t periods = end - period < chunk ? end - period : chunk;
        for (size_t i = 0; i < row->list->count; i++)
            copy_run(row, &row->list->run[i], period, periods);
    }
}

/* Less than a period, from an element on. */
static void copy_partly(const struct row *row, int64_t element, int64_t count)
{
    struct pleat_runs_place at = pleat_runs_find(row->list, element / row->scale);
    int64_t in_run = at.in_run * row->scale + element % row->scale;
    for (; count > 0; at.run++, in_run = 0) {
        const struct pleat_index_run *run = &row->list->run[at.run];
        int64_t most = run->length * row->scale - in_run;
        int64_t now = count < most ? count : most;
        copy_piece(row, run, at.period, in_run, now);
        count -= now;
    }
}

/* `count` elements of the row's list from number `element` on. */
static void copy_span(const struct row *row, int64_t element, int64_t count)
{
    int64_t period = row->list->per_period * row->scale;
    while (count > 0) {
        int64_t now = period - element % period;
        if (now == period && count >= period) {
            now = count / period * period;
            copy_periods(row, element / period, count / period);
        } else {
            now = count < now ? count : now;
            copy_partly(row, element, now);
        }
        element += now;
        count -= now;
    }
}

/* ---- all dimensions ---- */

/* A dimension's lists: of all peers, or of one. */
struct axis {
    int dim;
    const struct pleat_runs *list;
    size_t lists;
    int64_t elements;
    int64_t mine_stride;
    /* where a walk through all elements is: */
    size_t at;
    int64_t element; /* in this list */
    struct pleat_runs_place place;
};

struct walk {
    const struct pleat_dist_plan *plan;
    struct axis axis[PLEAT_DIST_DIMS]; /* the fastest one first */
    int axes;
    int64_t unit;
    int64_t scale; /* of the fastest one: dimensions before it that are whole are part of it */
};

static void walk_init(struct walk *walk, const struct pleat_dist_plan *plan,
                      const struct pleat_dist_plan_peer *peer)
{
    *walk = (struct walk){
        .plan = plan, .axes = plan->old.dims, .unit = plan->old.element_bytes, .scale = 1};
    for (int i = 0; i < walk->axes; i++) {
        int d = pleat_dist_plan_order(plan, i);
        const struct pleat_runs_dim *runs = &plan->dim[d];
        walk->axis[i] = (struct axis){.dim = d,
                                      .list = peer ? peer->part[d] : runs->all,
                                      .lists = peer ? 1 : runs->lists,
                                      .elements = peer ? peer->part[d]->elements : runs->elements,
                                      .mine_stride = plan->mine.stride[d]};
    }
}

/* A dimension that is one run, and all of the local array. */
static bool is_whole(const struct walk *walk, const struct axis *axis)
{
    const struct pleat_index_run *run = axis->list->run;
    return axis->lists == 1 && axis->list->count == 1 && axis->elements == run->length &&
           run->mine == 0 && axis->elements == walk->plan->mine.extent[axis->dim] &&
           axis->mine_stride == walk->unit * walk->scale;
}

/* Makes the fastest dimension part of the next one. */
static void fold_fastest(struct walk *walk)
{
    walk->scale *= walk->axis[0].elements;
    walk->axes--;
    memmove(&walk->axis[0], &walk->axis[1], (size_t)walk->axes * sizeof(walk->axis[0]));
}

static const struct pleat_index_run *run_at(const struct axis *axis)
{
    return &axis->list[axis->at].run[axis->place.run];
}

static int64_t mine_at(const struct axis *axis)
{
    return run_at(axis)->mine + axis->place.period * axis->list[axis->at].mine_step +
           axis->place.in_run;
}

static int64_t peer_at(const struct axis *axis)
{
    return run_at(axis)->peer + axis->place.period * axis->list[axis->at].peer_step +
           axis->place.in_run;
}

/* The next element of an axis; false after the last one, and then it is at the first one. */
static bool advance(struct axis *axis)
{
    const struct pleat_runs *list = &axis->list[axis->at];
    if (++axis->element == list->elements) {
        bool more = ++axis->at < axis->lists;
        axis->at = more ? axis->at : 0;
        axis->element = 0;
        axis->place = (struct pleat_runs_place){0};
        return more;
    }
    if (++axis->place.in_run == run_at(axis)->length) {
        axis->place.in_run = 0;
        if (++axis->place.run == list->count) {
            axis->place.run = 0;
            axis->place.period++;
        }
    }
    return true;
}

/* The next row; false after the last one. */
static bool next_row(struct walk *walk)
{
    for (int i = 1; i < walk->axes; i++)
        if (advance(&walk->axis[i]))
            return true;
    return false;
}

/* Goes to a row by its number; axes have one list. */
static void find_row(struct walk *walk, int64_t row)
{
    for (int i = 1; i < walk->axes; i++) {
        struct axis *axis = &walk->axis[i];
        axis->element = row % axis->elements;
        axis->place = pleat_runs_find(axis->list, axis->element);
        row /= axis->elements;
    }
}

/* Where the row begins in the local array. */
static int64_t mine_offset(const struct walk *walk)
{
    int64_t offset = 0;
    for (int i = 1; i < walk->axes; i++)
        offset += mine_at(&walk->axis[i]) * walk->axis[i].mine_stride;
    return offset;
}

/* ---- from peers' memory ---- */

struct source {
    char *base; /* only read */
    struct pleat_layout layout;
};

static int open_source(const struct pleat_dist_plan *plan, int rank,
                       const struct pleat_copy_source *given, struct source *source,
                       struct pleat_error *err)
{
    source->base = (char *)(uintptr_t)given->base;
    return pleat_dist_layout(&plan->old, rank, given->allocated, &source->layout, err);
}

/* Whether the dimension is whole in all sources, too. */
static bool is_whole_in(const struct walk *walk, const struct source *sources, size_t count)
{
    const struct axis *axis = &walk->axis[0];
    for (size_t i = 0; i < count; i++)
        if (axis->list->run->peer != 0 || sources[i].layout.extent[axis->dim] != axis->elements ||
            sources[i].layout.stride[axis->dim] != walk->unit * walk->scale)
            return false;
    return true;
}

/* The sources of a walk: those of all peers, or of one. */
struct sources {
    struct source *source;
    size_t count;
    size_t times[PLEAT_DIST_DIMS]; /* step of a peer's number for each dimension */
    struct end *end;               /* of each peer of the fastest dimension, for a row */
    bool only;
};

/* The peers of the fastest dimension. */
static size_t count_ends(const struct walk *walk, const struct sources *sources)
{
    return sources->only ? 1 : walk->plan->dim[walk->axis[0].dim].peers;
}

static void find_ends(const struct walk *walk, const struct sources *sources)
{
    size_t first = 0;
    int fastest = walk->axis[0].dim;
    size_t ends = count_ends(walk, sources);
    for (int i = 1; !sources->only && i < walk->axes; i++)
        first += (size_t)run_at(&walk->axis[i])->whose * sources->times[walk->axis[i].dim];
    for (size_t k = 0; k < ends; k++) {
        const struct source *source = &sources->source[first + k * sources->times[fastest]];
        int64_t offset = 0;
        for (int i = 1; i < walk->axes; i++)
            offset += peer_at(&walk->axis[i]) * source->layout.stride[walk->axis[i].dim];
        int64_t stride = walk->scale > 1 ? walk->unit : source->layout.stride[fastest];
        sources->end[k] = (struct end){PEER, source->base + offset, 0, stride};
    }
}

static void copy_from(struct walk *walk, const struct sources *sources, char *mine)
{
    while (walk->axes > 1 && count_ends(walk, sources) == 1 && is_whole(walk, &walk->axis[0]) &&
           is_whole_in(walk, sources->source, sources->count))
        fold_fastest(walk);
    struct row row = {
        .unit = walk->unit, .scale = walk->scale, .from = sources->end, .only = sources->only};
    do {
        row.to = (struct end){MINE, mine + mine_offset(walk), 0, walk->unit};
        find_ends(walk, sources);
        for (size_t i = 0; i < walk->axis[0].lists; i++) {
            row.list = &walk->axis[0].list[i];
            copy_span(&row, 0, row.list->elements * row.scale);
        }
    } while (next_row(walk));
}

int pleat_copy_all(const struct pleat_dist_plan *plan, const struct pleat_copy_source *sources,
                   void *mine, struct pleat_error *err)
{
    struct walk walk;
    int failed = 0;
    if (plan->peers == 0)
        return 0;
    walk_init(&walk, plan, NULL);
    size_t ends = 1;
    for (int d = 0; d < plan->old.dims; d++)
        ends = plan->dim[d].peers > ends ? plan->dim[d].peers : ends;
    struct sources all = {.count = plan->peers,
                          .source = malloc(plan->peers * sizeof(*all.source)),
                          .end = malloc(ends * sizeof(*all.end))};
    for (int d = plan->old.dims; d-- > 0;)
        all.times[d] = d == plan->old.dims - 1 ? 1 : all.times[d + 1] * plan->dim[d + 1].peers;
    if (!all.source || !all.end) {
        pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a redistribution");
        failed = PLEAT_E_NOMEM;
    }
    for (size_t i = 0; !failed && i < plan->peers; i++) {
        struct pleat_dist_plan_peer peer;
        pleat_dist_plan_peer(plan, i, &peer);
        failed = open_source(plan, peer.rank, &sources[i], &all.source[i], err);
    }
    if (!failed)
        copy_from(&walk, &all, mine);
    free(all.source);
    free(all.end);
    return failed;
}

int pleat_copy_peer(const struct pleat_dist_plan *plan, size_t peer,
                    const struct pleat_copy_source *source, void *mine, struct pleat_error *err)
{
    struct walk walk;
    struct source one;
    struct end end;
    struct pleat_dist_plan_peer part;
    pleat_dist_plan_peer(plan, peer, &part);
    int failed = open_source(plan, part.rank, source, &one, err);
    if (failed)
        return failed;
    const struct sources sources = {.source = &one, .count = 1, .end = &end, .only = true};
    walk_init(&walk, plan, &part);
    copy_from(&walk, &sources, mine);
    return 0;
}

/* ---- by way of buffers ---- */

/* Copies up to `room` bytes between the local array and a buffer. */
static int64_t pass(const struct pleat_dist_plan *plan, size_t index, char *mine, int64_t *done,
                    char *buffer, int64_t room, bool packs)
{
    struct walk walk;
    struct pleat_dist_plan_peer peer;
    pleat_dist_plan_peer(plan, index, &peer);
    walk_init(&walk, plan, &peer);
    while (walk.axes > 1 && is_whole(&walk, &walk.axis[0]))
        fold_fastest(&walk);
    int64_t in_row = walk.axis[0].elements * walk.scale;
    int64_t element = *done / walk.unit;
    int64_t left = (peer.bytes - *done < room ? peer.bytes - *done : room) / walk.unit;
    int64_t stride = walk.scale > 1 ? walk.unit : walk.axis[0].mine_stride;
    int64_t passed = 0;
    if (in_row < 1 || left < 1)
        return 0;
    find_row(&walk, element / in_row);
    for (; left > 0; next_row(&walk)) {
        int64_t first = element % in_row;
        int64_t now = in_row - first < left ? in_row - first : left;
        const struct end local = {MINE, mine + mine_offset(&walk), 0, stride};
        const struct end packed = {PACKED, buffer + passed, first, walk.unit};
        const struct row row = {.list = walk.axis[0].list,
                                .unit = walk.unit,
                                .scale = walk.scale,
                                .to = packs ? packed : local,
                                .from = packs ? &local : &packed,
                                .only = true};
        copy_span(&row, first, now);
        element += now;
        left -= now;
        passed += now * walk.unit;
    }
    *done += passed;
    return passed;
}

int64_t pleat_copy_pack(const struct pleat_dist_plan *plan, size_t peer, const void *mine,
                        int64_t *done, void *buffer, int64_t room)
{
    return pass(plan, peer, (char *)(uintptr_t)mine, done, buffer, room, true);
}

int64_t pleat_copy_unpack(const struct pleat_dist_plan *plan, size_t peer, void *mine,
                          int64_t *done, const void *buffer, int64_t bytes)
{
    return pass(plan, peer, mine, done, (char *)(uintptr_t)buffer, bytes, false);
}

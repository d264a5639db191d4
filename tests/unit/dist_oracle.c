#include "dist_oracle.h"

#include <stdlib.h>
#include <string.h>

#include "dist/copy.h"
#include "support/dist_elements.h"

#define NOTHING 0xEE /* what is in memory that nobody writes */

static void *zeros(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

/* ---- by definition ---- */

/* The process whose turn is the next block, and the length of that block. */
static int64_t next_block(const struct pleat_dim *dim, int turn, int *process)
{
    switch (dim->format) {
    case PLEAT_DIM_BLOCK_CYCLIC:
        *process = (dim->first + turn) % dim->processes;
        return dim->block;
    case PLEAT_DIM_BLOCK:
        *process = turn;
        return dim->extent / dim->processes + (turn < dim->extent % dim->processes ? 1 : 0);
    case PLEAT_DIM_GENERAL_BLOCK:
        *process = turn;
        return dim->bounds[turn + 1] - dim->bounds[turn];
    case PLEAT_DIM_COLLAPSED:
        break;
    }
    *process = 0;
    return dim->extent;
}

static void deal(struct oracle_dim *dealt, const struct pleat_dim *dim)
{
    size_t extent = (size_t)dim->extent;
    dealt->owner = zeros(extent, sizeof(*dealt->owner));
    dealt->local = zeros(extent, sizeof(*dealt->local));
    dealt->count = zeros((size_t)dim->processes, sizeof(*dealt->count));
    int64_t global = 0;
    for (int turn = 0; global < dim->extent; turn++) {
        int process;
        int64_t length = next_block(dim, turn, &process);
        for (int64_t i = 0; i < length && global < dim->extent; i++, global++) {
            dealt->owner[global] = process;
            dealt->local[global] = dealt->count[process]++;
        }
    }
}

void oracle_init(struct oracle *oracle, const struct pleat_dist *dist)
{
    oracle->dist = dist;
    for (int d = 0; d < dist->dims; d++)
        deal(&oracle->dim[d], &dist->dim[d]);
}

void oracle_finish(struct oracle *oracle)
{
    for (int d = 0; d < oracle->dist->dims; d++) {
        free(oracle->dim[d].owner);
        free(oracle->dim[d].local);
        free(oracle->dim[d].count);
    }
}

/* Adds one to coordinates in the grid's order. */
static void step(const struct pleat_dist *dist, int *coordinates)
{
    bool rows = dist->grid == PLEAT_DIST_ROW_MAJOR;
    for (int i = 0; i < dist->dims; i++) {
        int d = rows ? dist->dims - 1 - i : i;
        if (++coordinates[d] < dist->dim[d].processes)
            return;
        coordinates[d] = 0;
    }
}

int oracle_rank(const struct pleat_dist *dist, const int *coordinates)
{
    int at[PLEAT_DIST_DIMS] = {0};
    int rank = 0;
    while (memcmp(at, coordinates, (size_t)dist->dims * sizeof(int)) != 0) {
        step(dist, at);
        rank++;
    }
    return rank;
}

static void find_coordinates(const struct pleat_dist *dist, int rank, int *coordinates)
{
    memset(coordinates, 0, PLEAT_DIST_DIMS * sizeof(int));
    for (int i = 0; i < rank; i++)
        step(dist, coordinates);
}

int oracle_owner(const struct oracle *oracle, const int64_t *global)
{
    int coordinates[PLEAT_DIST_DIMS] = {0};
    for (int d = 0; d < oracle->dist->dims; d++)
        coordinates[d] = oracle->dim[d].owner[global[d]];
    return oracle_rank(oracle->dist, coordinates);
}

/* Indices in memory of process `coordinate` in a dimension. */
static int64_t length_of(const struct oracle *oracle, int d, int coordinate)
{
    const struct pleat_dim *dim = &oracle->dist->dim[d];
    if (dim->allocated)
        return dim->allocated;
    return oracle->dim[d].count[coordinate] + dim->halo_low + dim->halo_high;
}

/* The number of an element in memory, from its indices there. */
static int64_t linear(const struct oracle *oracle, const int *coordinates, const int64_t *indices)
{
    bool rows = oracle->dist->storage == PLEAT_DIST_ROW_MAJOR;
    int64_t place = 0;
    for (int i = 0; i < oracle->dist->dims; i++) {
        int d = rows ? i : oracle->dist->dims - 1 - i;
        place = place * length_of(oracle, d, coordinates[d]) + indices[d];
    }
    return place;
}

int64_t oracle_place(const struct oracle *oracle, const int64_t *global)
{
    int coordinates[PLEAT_DIST_DIMS] = {0};
    int64_t indices[PLEAT_DIST_DIMS];
    for (int d = 0; d < oracle->dist->dims; d++) {
        coordinates[d] = oracle->dim[d].owner[global[d]];
        indices[d] = oracle->dim[d].local[global[d]] + oracle->dist->dim[d].halo_low;
    }
    return linear(oracle, coordinates, indices);
}

bool oracle_next(const struct pleat_dist *dist, int64_t *global)
{
    for (int d = 0; d < dist->dims; d++) {
        if (++global[d] < dist->dim[d].extent)
            return true;
        global[d] = 0;
    }
    return false;
}

bool oracle_has_elements(const struct pleat_dist *dist)
{
    for (int d = 0; d < dist->dims; d++)
        if (dist->dim[d].extent == 0)
            return false;
    return true;
}

/* ---- local arrays ---- */

struct parts {
    struct oracle oracle;
    char *memory[64];
    size_t bytes[64];
};

static bool is_replicated(const struct pleat_dist *dist)
{
    for (int d = 0; d < dist->dims; d++)
        if (dist->dim[d].format != PLEAT_DIM_COLLAPSED)
            return false;
    return true;
}

static int grid_size(const struct pleat_dist *dist)
{
    int size = 1;
    for (int d = 0; d < dist->dims; d++)
        size *= dist->dim[d].processes;
    return size;
}

static size_t local_bytes(const struct oracle *oracle, int rank)
{
    const struct pleat_dist *dist = oracle->dist;
    int coordinates[PLEAT_DIST_DIMS];
    size_t bytes = (size_t)dist->element_bytes;
    if (rank >= grid_size(dist) && !is_replicated(dist))
        return 0;
    find_coordinates(dist, is_replicated(dist) ? 0 : rank, coordinates);
    for (int d = 0; d < dist->dims; d++)
        bytes *= oracle->dim[d].count[coordinates[d]] == 0
                     ? 0
                     : (size_t)length_of(oracle, d, coordinates[d]);
    return bytes;
}

static void parts_init(struct parts *parts, const struct pleat_dist *dist)
{
    assert_true(dist->ranks <= 64);
    oracle_init(&parts->oracle, dist);
    for (int rank = 0; rank < dist->ranks; rank++) {
        parts->bytes[rank] = local_bytes(&parts->oracle, rank);
        parts->memory[rank] = zeros(parts->bytes[rank], 1);
        memset(parts->memory[rank], NOTHING, parts->bytes[rank]);
    }
}

static void parts_finish(struct parts *parts)
{
    for (int rank = 0; rank < parts->oracle.dist->ranks; rank++)
        free(parts->memory[rank]);
    oracle_finish(&parts->oracle);
}

/* The bytes of an element: different for each. */
static void put_value(const struct pleat_dist *dist, const int64_t *global, char *to)
{
    uint64_t value = 0;
    for (int d = 0; d < dist->dims; d++)
        value = value * 1009 + (uint64_t)global[d] + 1;
    for (int64_t i = 0; i < dist->element_bytes; i++) {
        to[i] = (char)((value >> (i % 6 * 8)) + (uint64_t)i / 6);
        if (to[i] == (char)NOTHING)
            to[i] = 1;
    }
}

/* All elements into the local arrays of their owners; of copies, into rank 0's, or into all. */
static void parts_fill(struct parts *parts, bool all_copies)
{
    const struct pleat_dist *dist = parts->oracle.dist;
    int64_t global[PLEAT_DIST_DIMS] = {0};
    if (!oracle_has_elements(dist))
        return;
    do {
        int rank = oracle_owner(&parts->oracle, global);
        int64_t at = oracle_place(&parts->oracle, global) * dist->element_bytes;
        int last = is_replicated(dist) && all_copies ? dist->ranks - 1 : rank;
        for (; rank <= last; rank++)
            put_value(dist, global, parts->memory[rank] + at);
    } while (oracle_next(dist, global));
}

/* Halos inside the array into the local array of a rank, by looking at every element. */
static void fill_halos(struct parts *parts, int rank)
{
    const struct oracle *oracle = &parts->oracle;
    const struct pleat_dist *dist = oracle->dist;
    int64_t global[PLEAT_DIST_DIMS] = {0};
    int coordinates[PLEAT_DIST_DIMS];
    if (parts->bytes[rank] == 0 || is_replicated(dist))
        return;
    find_coordinates(dist, rank, coordinates);
    do {
        int64_t indices[PLEAT_DIST_DIMS];
        bool inside = true;
        for (int d = 0; d < dist->dims; d++) {
            int64_t first = 0;
            if (dist->dim[d].format == PLEAT_DIM_BLOCK_CYCLIC && dist->dim[d].processes > 1) {
                indices[d] = oracle->dim[d].local[global[d]];
                inside = inside && oracle->dim[d].owner[global[d]] == coordinates[d];
                continue;
            }
            while (oracle->dim[d].owner[first] != coordinates[d])
                first++;
            indices[d] = global[d] - first + dist->dim[d].halo_low;
            inside = inside && indices[d] >= 0 &&
                     indices[d] < oracle->dim[d].count[coordinates[d]] + dist->dim[d].halo_low +
                                      dist->dim[d].halo_high;
        }
        if (inside)
            put_value(dist, global,
                      parts->memory[rank] +
                          linear(oracle, coordinates, indices) * dist->element_bytes);
    } while (oracle_next(dist, global));
}

/* ---- the checks ---- */

struct pair {
    const struct pleat_dist *old, *new;
    unsigned flags;
    struct parts from, wanted, got;
    struct pleat_dist_plan *receive, *send;
    struct pleat_random *random;
};

static void clear_got(struct pair *pair)
{
    for (int rank = 0; rank < pair->new->ranks; rank++)
        memset(pair->got.memory[rank], NOTHING, pair->got.bytes[rank]);
}

static void compare_got(struct pair *pair)
{
    for (int rank = 0; rank < pair->new->ranks; rank++)
        if (memcmp(pair->got.memory[rank], pair->wanted.memory[rank], pair->got.bytes[rank]) != 0)
            fail_msg("rank %d of %d has wrong elements", rank, pair->new->ranks);
    clear_got(pair);
}

static void copy_all(struct pair *pair)
{
    struct pleat_copy_source sources[64];
    for (int rank = 0; rank < pair->new->ranks; rank++) {
        const struct pleat_dist_plan *plan = &pair->receive[rank];
        for (size_t i = 0; i < plan->peers; i++) {
            struct pleat_dist_plan_peer peer;
            pleat_dist_plan_peer(plan, i, &peer);
            sources[i] = (struct pleat_copy_source){.base = pair->from.memory[peer.rank]};
        }
        assert_int_equal(pleat_copy_all(plan, sources, pair->got.memory[rank], NULL), 0);
    }
    compare_got(pair);
}

static void copy_by_peer(struct pair *pair)
{
    for (int rank = 0; rank < pair->new->ranks; rank++)
        for (size_t i = pair->receive[rank].peers; i-- > 0;) {
            struct pleat_dist_plan_peer peer;
            pleat_dist_plan_peer(&pair->receive[rank], i, &peer);
            const struct pleat_copy_source source = {.base = pair->from.memory[peer.rank]};
            assert_int_equal(
                pleat_copy_peer(&pair->receive[rank], i, &source, pair->got.memory[rank], NULL), 0);
        }
    compare_got(pair);
}

/* Packed in pieces of one size, unpacked in pieces of another one. */
static void pass_packed(struct pair *pair, int from, size_t index, int to)
{
    const struct pleat_dist_plan *send = &pair->send[from];
    const struct pleat_dist_plan *receive = &pair->receive[to];
    struct pleat_dist_plan_peer peer;
    pleat_dist_plan_peer(send, index, &peer);
    char *buffer = zeros((size_t)peer.bytes, 1);
    int64_t unit = pair->old->element_bytes;
    int64_t elements = 1 + (int64_t)pleat_random_below(pair->random, 40);
    int64_t room = elements * unit + (int64_t)pleat_random_below(pair->random, (uint64_t)unit);
    int64_t done = 0;
    int64_t packed = 0;
    for (int64_t now; (now = pleat_copy_pack(send, index, pair->from.memory[from], &done,
                                             buffer + packed, room)) > 0;) {
        assert_true(now <= room);
        packed += now;
        assert_true(done == packed && packed <= peer.bytes);
    }
    assert_int_equal(packed, peer.bytes);
    size_t back = pleat_dist_plan_find(receive, from);
    elements = 1 + (int64_t)pleat_random_below(pair->random, 40);
    done = 0;
    while (done < packed) {
        int64_t bytes = packed - done < elements * unit ? packed - done : elements * unit;
        assert_int_equal(
            pleat_copy_unpack(receive, back, pair->got.memory[to], &done, buffer + done, bytes),
            bytes);
    }
    free(buffer);
}

/* The offsets in the local array of all elements that are exchanged with a peer, as a datatype of
 * MPI made of nested vectors lists them: the fastest dimension innermost. */
struct offsets {
    int64_t *at;
    size_t count;
};

static void list_offsets(const struct pleat_dist_plan *plan,
                         const struct pleat_dist_plan_peer *peer, int step, int64_t offset,
                         struct offsets *offsets)
{
    if (step < 0) {
        offsets->at[offsets->count++] = offset;
        return;
    }
    int d = pleat_dist_plan_order(plan, step);
    for (size_t run = 0; run < peer->part[d]->count; run++) {
        struct vector vectors[2];
        int count = dist_vectors(peer->part[d], run, vectors);
        for (int v = 0; v < count; v++)
            for (int64_t i = 0; i < vectors[v].count * vectors[v].length; i++) {
                int64_t index = vectors[v].first + i / vectors[v].length * vectors[v].step +
                                i % vectors[v].length;
                list_offsets(plan, peer, step - 1, offset + index * plan->mine.stride[d], offsets);
            }
    }
}

static struct offsets offsets_of(const struct pleat_dist_plan *plan, size_t index)
{
    struct pleat_dist_plan_peer peer;
    pleat_dist_plan_peer(plan, index, &peer);
    int64_t elements = peer.bytes / plan->old.element_bytes;
    struct offsets offsets = {zeros((size_t)elements, sizeof(int64_t)), 0};
    list_offsets(plan, &peer, plan->old.dims - 1, 0, &offsets);
    assert_int_equal(offsets.count, elements);
    return offsets;
}

static void pass_typed(struct pair *pair, int from, size_t index, int to)
{
    const struct pleat_dist_plan *receive = &pair->receive[to];
    struct offsets a = offsets_of(&pair->send[from], index);
    struct offsets b = offsets_of(receive, pleat_dist_plan_find(receive, from));
    assert_int_equal(a.count, b.count);
    for (size_t i = 0; i < a.count; i++)
        memcpy(pair->got.memory[to] + b.at[i], pair->from.memory[from] + a.at[i],
               (size_t)pair->old->element_bytes);
    free(a.at);
    free(b.at);
}

static void pass_all(struct pair *pair, void (*pass)(struct pair *, int, size_t, int))
{
    for (int from = 0; from < pair->old->ranks; from++)
        for (size_t i = 0; i < pair->send[from].peers; i++) {
            struct pleat_dist_plan_peer peer;
            pleat_dist_plan_peer(&pair->send[from], i, &peer);
            assert_true(peer.rank >= 0 && peer.rank < pair->new->ranks);
            assert_int_equal(pleat_dist_plan_find(&pair->send[from], peer.rank), i);
            assert_true(pleat_dist_plan_find(&pair->receive[peer.rank], from) != SIZE_MAX);
            pass(pair, from, i, peer.rank);
        }
    compare_got(pair);
}

/* The bytes of which the plan's rank itself is the peer. */
static int64_t bytes_in_place(const struct pleat_dist_plan *plan)
{
    struct pleat_dist_plan_peer peer;
    const size_t own = pleat_dist_plan_find(plan, plan->rank);
    if (own == SIZE_MAX)
        return 0;
    pleat_dist_plan_peer(plan, own, &peer);
    return peer.bytes;
}

static void check_sums(struct pair *pair)
{
    int64_t sums[3] = {0};
    int64_t moved = -1;
    int64_t global[PLEAT_DIST_DIMS] = {0};
    int64_t expected = 0;
    for (int rank = 0; rank < pair->new->ranks; rank++) {
        sums[0] += pair->receive[rank].bytes;
        sums[2] += pair->receive[rank].bytes - bytes_in_place(&pair->receive[rank]);
    }
    for (int rank = 0; rank < pair->old->ranks; rank++)
        sums[1] += pair->send[rank].bytes;
    assert_int_equal(sums[0], sums[1]);
    assert_int_equal(pleat_dist_plan_moved(pair->old, pair->new, &moved, NULL), 0);
    if (pair->flags & PLEAT_DIST_PLAN_HALOS)
        return;
    assert_int_equal(moved, sums[2]);
    if (oracle_has_elements(pair->old))
        do
            for (int r = 0; r < pair->new->ranks; r++) {
                bool wants =
                    is_replicated(pair->new) || r == oracle_owner(&pair->wanted.oracle, global);
                if (wants && r != oracle_owner(&pair->from.oracle, global))
                    expected += pair->old->element_bytes;
            }
        while (oracle_next(pair->old, global));
    assert_int_equal(moved, expected);
}

static void make_plans(struct pair *pair)
{
    struct pleat_error err = {0};
    pair->receive = zeros((size_t)pair->new->ranks, sizeof(*pair->receive));
    pair->send = zeros((size_t)pair->old->ranks, sizeof(*pair->send));
    for (int r = 0; r < pair->new->ranks; r++)
        if (pleat_dist_plan_receive(pair->old, pair->new, r, NULL, pair->flags, &pair->receive[r],
                                    &err))
            fail_msg("%s", err.text);
    for (int r = 0; r < pair->old->ranks; r++)
        if (pleat_dist_plan_send(pair->old, pair->new, r, NULL, pair->flags, &pair->send[r], &err))
            fail_msg("%s", err.text);
}

void oracle_check_pair(const struct pleat_dist *old, const struct pleat_dist *new, unsigned flags,
                       struct pleat_random *random)
{
    static struct pair pair;
    pair = (struct pair){.old = old, .new = new, .flags = flags, .random = random};
    parts_init(&pair.from, old);
    parts_init(&pair.wanted, new);
    parts_init(&pair.got, new);
    parts_fill(&pair.from, false);
    parts_fill(&pair.wanted, true);
    for (int rank = 0; (flags & PLEAT_DIST_PLAN_HALOS) && rank < new->ranks; rank++)
        fill_halos(&pair.wanted, rank);
    make_plans(&pair);
    for (int rank = 0; rank < new->ranks; rank++)
        assert_int_equal(pair.got.bytes[rank], pair.receive[rank].mine.bytes);
    copy_all(&pair);
    copy_by_peer(&pair);
    pass_all(&pair, pass_packed);
    pass_all(&pair, pass_typed);
    check_sums(&pair);
    for (int rank = 0; rank < new->ranks; rank++)
        pleat_dist_plan_finish(&pair.receive[rank]);
    for (int rank = 0; rank < old->ranks; rank++)
        pleat_dist_plan_finish(&pair.send[rank]);
    free(pair.receive);
    free(pair.send);
    parts_finish(&pair.from);
    parts_finish(&pair.wanted);
    parts_finish(&pair.got);
}

#include "app/items-home.h"

#include <stdlib.h>
#include <string.h>

#include "app/blocks.h"
#include "app/home-ahead.h"
#include "app/home-source.h"
#include "app/session.h"

bool pleat_items_in_file(const struct pleat_items *items)
{
    return items->home && items->home->now.place.fd >= 0;
}

/* Fills *all, which is allocated anew, with each rank's number. Collective. */
static int gather(const struct pleat_items *items, int64_t **all, MPI_Comm comm, int ranks,
                  int64_t mine, struct pleat_error *err)
{
    int agreed = 0;
    free(*all);
    *all = calloc((size_t)ranks, sizeof(**all));
    int failed = pleat_mpi_agree(comm, *all ? 0 : PLEAT_E_NOMEM, &agreed, err);
    if (failed || agreed)
        return failed ? failed
                      : pleat_error_set(err, agreed, "no memory to count the items of '%s'",
                                        items->object.name);
    return pleat_mpi_check(MPI_Allgather(&mine, 1, MPI_INT64_T, *all, 1, MPI_INT64_T, comm),
                           "counting items", err);
}

int pleat_items_gather_counts(struct pleat_items *items, MPI_Comm comm, int ranks, int64_t count,
                              struct pleat_error *err)
{
    items->count_size = ranks;
    return gather(items, &items->counts, comm, ranks, count, err);
}

/* ---- a resize ---- */

static uint64_t sum_bytes(const struct pleat_parcel *parcels, int ranks)
{
    uint64_t bytes = 0;
    for (int rank = 0; rank < ranks; rank++)
        bytes += (uint64_t)parcels[rank].bytes;
    return bytes;
}

int pleat_items_measure_home(struct pleat_items *items, const struct pleat_change *change,
                             struct pleat_error *err)
{
    const int ranks = change->old_size > change->new_size ? change->old_size : change->new_size;
    int64_t coming = 0;
    for (int rank = 0; rank < ranks; rank++)
        coming += items->incoming[rank].count;
    const int64_t here = change->rank < change->old_size ? items->ops.count(items->arg) : 0;
    const uint64_t bytes = sum_bytes(items->incoming, ranks);
    int code = gather(items, &items->olds, change->comm, ranks, here, err);
    if (!code)
        code = pleat_items_gather_counts(items, change->comm, ranks, coming, err);
    if (!code)
        code = pleat_mpi_check(
            MPI_Allreduce(&bytes, &items->all_bytes, 1, MPI_UINT64_T, MPI_SUM, change->comm),
            "counting items", err);
    unsigned half = items->home->now.place.half; /* a rank that joins does not know it */
    if (!code)
        code = pleat_mpi_check(MPI_Bcast(&half, 1, MPI_UNSIGNED, 0, change->comm), "counting items",
                               err);
    items->home->now.place.half = half;
    return code;
}

/* Finds where this rank's share is: *pieces is the caller's to free. */
static int find_pieces(const struct pleat_items *items, int fd, const struct pleat_home_mark *mark,
                       struct pleat_block share, struct pleat_home_piece **pieces, size_t *count,
                       struct pleat_error *err)
{
    int64_t first = 0;
    *count = 0;
    *pieces = calloc((size_t)mark->ranks, sizeof(**pieces));
    if (!*pieces)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to find the items of '%s'",
                               items->object.name);
    for (int rank = 0; rank < mark->ranks; rank++) {
        const struct pleat_block theirs = {first, first + mark->counts[rank]};
        const struct pleat_block common = pleat_block_common(share, theirs);
        if (pleat_block_count(common))
            (*pieces)[(*count)++] = (struct pleat_home_piece){
                .from = {.fd = fd, .half = mark->half, .ranks = mark->ranks, .rank = rank},
                .first = common.first - first,
                .count = pleat_block_count(common)};
        first = theirs.end;
    }
    return 0;
}

bool pleat_items_copies(const struct pleat_items *items, const struct pleat_change *change)
{
    return items->home && change->in_data && !items->ops.owner;
}

int pleat_items_copy_home(struct pleat_items *items, const struct pleat_change *change,
                          struct pleat_error *err)
{
    const struct pleat_home_mark old = {items->home->now.place.half, change->old_size, items->olds};
    struct pleat_home_piece *pieces = NULL;
    size_t count = 0;
    int64_t all = 0;
    if (change->rank >= change->new_size)
        return 0;
    for (int rank = 0; rank < change->old_size; rank++)
        all += items->olds[rank];
    int code =
        find_pieces(items, change->data, &old, pleat_block_of(all, change->new_size, change->rank),
                    &pieces, &count, err);
    if (!code)
        code = items->home_ops->adopt(pieces, count, items->arg, err);
    items->opened = !code;
    free(pieces);
    return code;
}

int pleat_items_fill_home(struct pleat_items *items, const struct pleat_change *change,
                          struct pleat_error *err)
{
    int agreed = 0;
    int code = 0;
    if (items->opened && !pleat_home_fill(items->home))
        code = pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the items of '%s'",
                               items->object.name);
    int failed = pleat_mpi_agree(change->comm, code, &agreed, err);
    if (!failed && agreed && !code)
        code = pleat_error_set(err, agreed, "another rank has no memory for the items of '%s'",
                               items->object.name);
    return failed ? failed : code;
}

/* Rank 0 says where the items are, once all ranks have theirs. */
static int move_mark(const struct pleat_items *items, const struct pleat_change *change, int code,
                     struct pleat_error *err)
{
    const struct pleat_home_mark mark = {items->home->coming.place.half, change->new_size,
                                         items->counts};
    int agreed = 0;
    int failed = pleat_mpi_agree(change->comm, code, &agreed, err);
    if (failed || code)
        return failed ? failed : code;
    if (agreed)
        return pleat_error_set(err, agreed, "another rank could not take its items of '%s'",
                               items->object.name);
    if (change->rank == 0)
        code = pleat_home_write_mark(items->home, change->data, &mark, err);
    failed = pleat_mpi_check(MPI_Bcast(&code, 1, MPI_INT, 0, change->comm), "moving items", err);
    if (!failed && code && change->rank != 0)
        pleat_error_set(err, code, "rank 0 could not mark the items of '%s'", items->object.name);
    return failed ? failed : code;
}

int pleat_items_take_home(struct pleat_items *items, const struct pleat_change *change, int code,
                          struct pleat_error *err)
{
    const struct pleat_home_place old = items->home->now.place;
    code = move_mark(items, change, code, err);
    if (code)
        return code;
    if (items->opened)
        items->ops.close(1, items->arg);
    else if (change->rank < change->old_size)
        items->home_ops->leave(items->arg);
    items->opened = false;
    if (change->rank < change->old_size)
        pleat_home_free_area(items->home, &old);
    return 0;
}

/* ---- loading ---- */

static void expect(const struct pleat_items *items, const struct pleat_tail *tail)
{
    const struct pleat_session *session = items->home->session;
    const bool in_file = session->in_data && !session->nodes;
    pleat_home_expect(items->home, in_file ? pleat_state_data(session->saved) : -1, tail->size,
                      tail->rank);
}

void pleat_items_expect_home(struct pleat_items *items, const struct pleat_tail *tail)
{
    expect(items, tail);
}

/* Reads the mark, which must be of `count` items. */
static int read_mark(const struct pleat_items *items, int64_t count, struct pleat_home_mark *mark,
                     struct pleat_error *err)
{
    const int fd = pleat_state_data(items->home->session->saved);
    int64_t left = count;
    int code = pleat_home_read_mark(items->home, fd, mark, err);
    if (code)
        return code;
    bool good = true;
    for (int rank = 0; rank < mark->ranks && good; rank++) {
        good = mark->counts[rank] <= left;
        left -= mark->counts[rank];
    }
    if (good && left == 0)
        return 0;
    free(mark->counts);
    mark->counts = NULL;
    return pleat_error_set(err, PLEAT_E_CORRUPT, "the memory of '%s' is damaged",
                           items->object.name);
}

int pleat_items_load_home(struct pleat_items *items, const struct pleat_tail *tail, int64_t count,
                          struct pleat_error *err)
{
    struct pleat_home *home = items->home;
    struct pleat_home_mark mark;
    struct pleat_home_piece *pieces = NULL;
    size_t piece_count = 0;
    int code = read_mark(items, count, &mark, err);
    if (code)
        return code;
    code = find_pieces(items, pleat_state_data(items->home->session->saved), &mark,
                       pleat_block_of(count, tail->size, tail->rank), &pieces, &piece_count, err);
    home->now.place.half = mark.half;
    expect(items, tail);
    if (!code) {
        code = items->home_ops->adopt(pieces, piece_count, items->arg, err);
        items->ops.close(code == 0, items->arg);
    }
    if (!code) {
        home->loaded = (struct pleat_home_place){pleat_state_data(home->session->saved), mark.half,
                                                 mark.ranks, tail->rank};
        home->all = count;
    }
    pleat_home_ahead_end(home);
    free(pieces);
    free(mark.counts);
    return code;
}

/* Bytes for which ranks that load an object take new memory, of all ranks; 0: they take none, or
 * how many they will be is not known. */
static uint64_t new_memory(const struct pleat_object *object, bool in_tail)
{
    if (!in_tail)
        return object->tail || !object->ops->tidy ? 0 : object->ops->stored(object);
    const struct pleat_items *items = object->tail ? pleat_items_of_const(object) : NULL;
    return items && items->home ? items->home->ahead.all : 0;
}

/* Whether it was not seen yet how many items of a set before this one there are. */
static bool is_behind_unknown(const struct pleat_items *items)
{
    for (const struct pleat_object *object = items->home->session->objects;
         object && object != &items->object; object = object->next) {
        const struct pleat_items *other = object->tail ? pleat_items_of_const(object) : NULL;
        if (other && other->home && !other->home->ahead.from.ranks)
            return true;
    }
    return false;
}

/* Memory is taken ahead for the first sets, as long as they are, with what is loaded before them,
 * not much larger than the largest one of all: small ones before a large one do no harm.
 * array-ahead.c says why. */
static bool may_take_memory(const struct pleat_items *items)
{
    uint64_t until = 0;
    uint64_t largest = 0;
    bool before = true;
    for (int in_tail = 0; in_tail < 2; in_tail++)
        for (const struct pleat_object *object = items->home->session->objects; object;
             object = object->next) {
            const uint64_t bytes = new_memory(object, in_tail);
            until += before ? bytes : 0;
            largest = bytes > largest ? bytes : largest;
            before = before && !(in_tail && object == &items->object);
        }
    return until <= largest + largest / 8 && !is_behind_unknown(items);
}

/* There is always more to look at: how many items there are changes as the others compute. */
enum pleat_foreseen pleat_items_foresee(struct pleat_object *object, int data)
{
    const struct pleat_items *items = pleat_items_of(object);
    struct pleat_home *home = items->home;
    if (!home || home->session->nodes)
        return PLEAT_FORESEEN_ALL;
    const int ranks = home->session->size;
    const int rank = home->session->rank;
    if (pleat_home_go_on(home))
        return PLEAT_FORESEEN_MORE;
    if (!pleat_home_look(home, data, ranks, rank))
        return PLEAT_FORESEEN_NOTHING;
    if (may_take_memory(items))
        pleat_home_take(home, ranks, rank);
    else if (home->ahead.takes) /* sets before this one have become larger */
        pleat_home_close(home, false);
    return pleat_home_go_on(home) ? PLEAT_FORESEEN_MORE : PLEAT_FORESEEN_NOTHING;
}

int pleat_items_home_needs(struct pleat_items *items, const struct pleat_tail *tail, int64_t count,
                           int step, struct pleat_stretches *list, struct pleat_error *err)
{
    struct pleat_home_mark mark;
    struct pleat_home_piece *pieces = NULL;
    size_t piece_count = 0;
    int code = 0;
    if (step == 0)
        return pleat_session_leads(items->home->session) ? pleat_home_list_marks(items->home, list)
                                                         : 0;
    code = read_mark(items, count, &mark, err);
    if (code)
        return code;
    code = find_pieces(items, pleat_state_data(items->home->session->saved), &mark,
                       pleat_block_of(count, tail->size, tail->rank), &pieces, &piece_count, err);
    if (!code)
        code = items->home_ops->needs(pieces, piece_count, step - 1, items->arg, list, err);
    free(pieces);
    free(mark.counts);
    return code;
}

/* All ranks have loaded their shares. */
int pleat_items_settle(const struct pleat_object *object, struct pleat_error *err)
{
    const struct pleat_items *items = pleat_items_of_const(object);
    const struct pleat_home *home = items->home;
    if (!home || !home->loaded.ranks || home->now.place.fd < 0)
        return 0;
    const int ranks = home->now.place.ranks;
    int64_t *counts = calloc((size_t)ranks, sizeof(*counts));
    if (!counts)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the parts of '%s'", object->name);
    for (int rank = 0; rank < ranks; rank++)
        counts[rank] = pleat_block_count(pleat_block_of(home->all, ranks, rank));
    const struct pleat_home_mark mark = {home->now.place.half, ranks, counts};
    int code = pleat_home_write_mark(home, home->now.place.fd, &mark, err);
    free(counts);
    return code;
}

void pleat_items_tidy(struct pleat_object *object)
{
    struct pleat_home *home = pleat_items_of(object)->home;
    if (!home || !home->loaded.ranks)
        return;
    struct pleat_home_place place = home->loaded;
    if (home->session->nodes) {
        /* parts of any ranks may be on this node */
        place.rank = 0;
        place.ranks = 1;
        if (pleat_session_leads(home->session))
            pleat_home_free_area(home, &place);
    } else {
        for (; place.rank < place.ranks; place.rank += home->now.place.ranks)
            pleat_home_free_area(home, &place);
    }
    home->loaded = (struct pleat_home_place){0};
}

int pleat_items_fits(const struct pleat_object *object, int size, struct pleat_error *err)
{
    const struct pleat_items *items = pleat_items_of_const(object);
    (void)size;
    return pleat_items_in_file(items)
               ? pleat_home_check_room(items->home, (uint64_t)items->place.bytes, err)
               : 0;
}

/* Arrays of rows in contiguous blocks. Each global row keeps its address (memory.h), so a resize
 * does not touch rows that stay. The others are mapped where the memory is that of the data file
 * (shm/state.h); there a row's place does not depend on who has it. Otherwise they are received
 * where they belong.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/rows-block.h"
#include "app/rows-messages.h"
#include "app/rows.h"
#include "checkpoint/checkpoint.h"
#include "dist/dim.h"

static struct pleat_rows *rows_of(struct pleat_object *object)
{
    return (struct pleat_rows *)(void *)object;
}

static const struct pleat_rows *const_rows_of(const struct pleat_object *object)
{
    return (const struct pleat_rows *)(const void *)object;
}

static bool is_in_file(const struct pleat_rows *rows)
{
    return rows->memory.fd >= 0;
}

/* The block in bytes of the memory. */
static struct pleat_span span_of(const struct pleat_rows *rows, struct pleat_block block)
{
    return pleat_block_count(block) ? (struct pleat_span){pleat_rows_offset(rows, block.first),
                                                          pleat_rows_offset(rows, block.end)}
                                    : (struct pleat_span){0, 0};
}

static struct pleat_span span_with_halo(const struct pleat_rows *rows, struct pleat_block block)
{
    const struct pleat_block wide = {block.first - rows->halo, block.end + rows->halo};
    return pleat_block_count(block) ? span_of(rows, wide) : (struct pleat_span){0, 0};
}

static int open_block(struct pleat_rows *rows, struct pleat_block block, struct pleat_error *err)
{
    if (!pleat_block_count(block))
        return 0;
    return pleat_memory_open(&rows->memory, pleat_rows_offset(rows, block.first - rows->halo),
                             pleat_rows_offset(rows, block.end + rows->halo), err);
}

static void keep_block(struct pleat_rows *rows, struct pleat_block block)
{
    if (!pleat_block_count(block))
        pleat_memory_keep(&rows->memory, 0, 0);
    else
        pleat_memory_keep(&rows->memory, pleat_rows_offset(rows, block.first - rows->halo),
                          pleat_rows_offset(rows, block.end + rows->halo));
}

static void zero_halo(struct pleat_rows *rows)
{
    if (!rows->halo || !pleat_block_count(rows->local))
        return;
    size_t bytes = (size_t)rows->halo * rows->row_bytes;
    memset(rows->memory.base + pleat_rows_offset(rows, rows->local.first - rows->halo), 0, bytes);
    memset(rows->memory.base + pleat_rows_offset(rows, rows->local.end), 0, bytes);
}

static uint64_t rows_shape(const struct pleat_object *object)
{
    const struct pleat_rows *rows = const_rows_of(object);
    return ((uint64_t)rows->rows * 31 + rows->row_bytes) * 31 + (uint64_t)rows->halo;
}

static void rows_text(const struct pleat_object *object, char *text, size_t size)
{
    const struct pleat_rows *rows = const_rows_of(object);
    snprintf(text, size, "%" PRId64 " rows of %zu bytes with a halo of %" PRId64, rows->rows,
             rows->row_bytes, rows->halo);
}

/* From now on the memory is that of the data file. */
static void share(struct pleat_rows *rows, int data)
{
    pleat_memory_share(&rows->memory, data,
                       (int64_t)(PLEAT_STATE_OFFSET + rows->object.offset) -
                           (int64_t)pleat_rows_offset(rows, 0));
}

static int prepare_messages(struct pleat_rows *rows, const struct pleat_change *change,
                            struct pleat_error *err)
{
    const struct pleat_block after = pleat_rows_block(rows, change->new_size, change->rank);
    int code = pleat_rows_messages_begin(rows, change, err);
    if (code)
        return code;
    code = open_block(rows, after, err);
    if (!code && pleat_block_count(after))
        pleat_memory_populate(&rows->memory, pleat_rows_offset(rows, after.first),
                              pleat_rows_offset(rows, after.end));
    if (code)
        pleat_rows_messages_end(rows);
    return code;
}

static int rows_prepare(struct pleat_object *object, const struct pleat_change *change,
                        struct pleat_error *err)
{
    struct pleat_rows *rows = rows_of(object);
    if (!change->in_data)
        return prepare_messages(rows, change, err);
    rows->coming = pleat_rows_block(rows, change->new_size, change->rank);
    share(rows, change->data);
    return pleat_memory_prepare(&rows->memory, span_of(rows, rows->coming), err);
}

static void rows_cancel(struct pleat_object *object)
{
    struct pleat_rows *rows = rows_of(object);
    if (is_in_file(rows)) {
        pleat_memory_unprepare(&rows->memory, span_of(rows, rows->coming));
        return;
    }
    pleat_rows_messages_end(rows);
    keep_block(rows, rows->local);
}

static int rows_exchange(struct pleat_object *object, const struct pleat_change *change,
                         struct pleat_error *err)
{
    struct pleat_rows *rows = rows_of(object);
    if (is_in_file(rows))
        return 0;
    int code = pleat_rows_messages_exchange(rows, change, err);
    pleat_rows_messages_end(rows);
    return code;
}

/* The parts of the local block on pages that are not the file's: at most one before and one behind
 * these. */
static void private_parts(const struct pleat_rows *rows, struct pleat_span part[2])
{
    const struct pleat_span block = span_of(rows, rows->local);
    const struct pleat_span shared = rows->memory.shared;
    bool none = shared.first >= shared.end;
    part[0] = none ? block : (struct pleat_span){block.first, shared.first};
    part[1] = none ? (struct pleat_span){0, 0} : (struct pleat_span){shared.end, block.end};
}

/* Offset in the state of a byte of the memory. Rows lie one after another there, without halos. */
static uint64_t place_of(const struct pleat_rows *rows, size_t at)
{
    return rows->object.offset + at - pleat_rows_offset(rows, 0);
}

static int read_private_parts(struct pleat_rows *rows, struct pleat_error *err)
{
    struct pleat_span part[2];
    int code = 0;
    private_parts(rows, part);
    for (int i = 0; i < 2 && !code; i++)
        if (part[i].first < part[i].end)
            code = pleat_state_read_data(rows->memory.fd, place_of(rows, part[i].first),
                                         rows->memory.base + part[i].first,
                                         part[i].end - part[i].first, err);
    return code;
}

static int write_private_parts(const struct pleat_rows *rows, struct pleat_state *state,
                               struct pleat_error *err)
{
    struct pleat_span part[2];
    int code = 0;
    private_parts(rows, part);
    for (int i = 0; i < 2 && !code; i++)
        if (part[i].first < part[i].end)
            code = pleat_state_write(state, place_of(rows, part[i].first),
                                     rows->memory.base + part[i].first, part[i].end - part[i].first,
                                     err);
    return code;
}

/* Maps the local block from the data file. */
static int map_block(struct pleat_rows *rows, struct pleat_error *err)
{
    return pleat_memory_move(&rows->memory, span_of(rows, rows->local),
                             span_with_halo(rows, rows->local), err);
}

static int rows_commit(struct pleat_object *object, const struct pleat_change *change,
                       struct pleat_error *err)
{
    struct pleat_rows *rows = rows_of(object);
    rows->local = pleat_rows_block(rows, change->new_size, change->rank);
    if (is_in_file(rows)) {
        int code = map_block(rows, err);
        return code ? code : read_private_parts(rows, err);
    }
    keep_block(rows, rows->local);
    zero_halo(rows);
    return 0;
}

static uint64_t rows_moved(const struct pleat_object *object, const struct pleat_change *change)
{
    const struct pleat_rows *rows = const_rows_of(object);
    int most = change->old_size > change->new_size ? change->old_size : change->new_size;
    int64_t stay = 0;
    for (int rank = 0; rank < most; rank++)
        stay +=
            pleat_block_count(pleat_block_common(pleat_rows_block(rows, change->old_size, rank),
                                                 pleat_rows_block(rows, change->new_size, rank)));
    return (uint64_t)(rows->rows - stay) * rows->row_bytes;
}

static uint64_t rows_stored(const struct pleat_object *object)
{
    const struct pleat_rows *rows = const_rows_of(object);
    return (uint64_t)rows->rows * rows->row_bytes;
}

static void rows_describe(const struct pleat_object *object, struct pleat_checkpoint_entry *entry)
{
    const struct pleat_rows *rows = const_rows_of(object);
    memcpy(entry->kind, "rows", sizeof("rows"));
    entry->dimensions = 1;
    entry->shape[0] = rows->rows;
    entry->element_bytes = rows->row_bytes;
}

static int rows_save(const struct pleat_object *object, struct pleat_state *state,
                     struct pleat_error *err)
{
    const struct pleat_rows *rows = const_rows_of(object);
    if (!pleat_block_count(rows->local))
        return 0;
    if (is_in_file(rows) && pleat_state_is_data(state))
        return write_private_parts(rows, state, err);
    size_t first = pleat_rows_offset(rows, rows->local.first);
    return pleat_state_write(state, place_of(rows, first), rows->memory.base + first,
                             pleat_rows_bytes(rows, rows->local), err);
}

static int rows_parts(const struct pleat_object *object, bool in_data, bool loading,
                      struct pleat_stretches *list, struct pleat_error *err)
{
    const struct pleat_rows *rows = const_rows_of(object);
    const struct pleat_span block = span_of(rows, rows->local);
    (void)in_data;
    (void)loading; /* `block` is the new one when loading */
    (void)err;
    return block.first < block.end
               ? pleat_stretches_add(list, place_of(rows, block.first), place_of(rows, block.end))
               : 0;
}

/* Reads the local block from a copy. */
static int read_block(struct pleat_rows *rows, struct pleat_state *state, struct pleat_error *err)
{
    size_t first = pleat_rows_offset(rows, rows->local.first);
    pleat_memory_populate(&rows->memory, first, pleat_rows_offset(rows, rows->local.end));
    zero_halo(rows);
    return pleat_state_read(state, place_of(rows, first), rows->memory.base + first,
                            pleat_rows_bytes(rows, rows->local), err);
}

static int prepare_block(struct pleat_rows *rows, int data, struct pleat_error *err)
{
    share(rows, data);
    pleat_memory_keep(&rows->memory, 0, 0);
    return pleat_memory_prepare(&rows->memory, span_of(rows, rows->local), err);
}

/* The block is private memory again. */
static int take_back(struct pleat_rows *rows, struct pleat_error *err)
{
    pleat_memory_ahead_drop(&rows->ahead);
    pleat_memory_unprepare(&rows->memory, span_of(rows, rows->local));
    rows->memory.fd = -1;
    return open_block(rows, rows->local, err);
}

static enum pleat_foreseen rows_foresee(struct pleat_object *object, int data)
{
    struct pleat_rows *rows = rows_of(object);
    if (!pleat_block_count(rows->local))
        return PLEAT_FORESEEN_ALL;
    if (!rows->ahead.provided) {
        share(rows, data);
        pleat_memory_keep(&rows->memory, 0, 0);
        if (pleat_memory_ahead_begin(&rows->ahead, &rows->memory, span_of(rows, rows->local),
                                     NULL)) {
            (void)take_back(rows, NULL);
            return PLEAT_FORESEEN_ALL;
        }
    }
    return pleat_memory_ahead_go_on(&rows->ahead);
}

static int rows_load(struct pleat_object *object, struct pleat_state *state, int data,
                     struct pleat_error *err)
{
    struct pleat_rows *rows = rows_of(object);
    int code = 0;
    if (data >= 0 && rows->memory.prepared)
        code = pleat_memory_ahead_end(&rows->ahead, err);
    else if (data >= 0)
        code = prepare_block(rows, data, err);
    if (data >= 0 && !code)
        code = map_block(rows, err);
    else if (data < 0 && rows->memory.prepared)
        code = take_back(rows, err);
    if (code)
        return code;
    if (!pleat_block_count(rows->local))
        return 0;
    return pleat_state_is_data(state) ? read_private_parts(rows, err)
                                      : read_block(rows, state, err);
}

static void rows_detach(struct pleat_object *object)
{
    pleat_memory_detach(&rows_of(object)->memory);
}

void pleat_rows_close(struct pleat_rows *rows)
{
    pleat_memory_ahead_drop(&rows->ahead);
    pleat_memory_release(&rows->memory);
    free(rows->requests);
    rows->requests = NULL;
}

static void rows_destroy(struct pleat_object *object)
{
    struct pleat_rows *rows = rows_of(object);
    pleat_rows_close(rows);
    free(rows);
}

static int rows_usable(const struct pleat_object *object, int size, struct pleat_error *err)
{
    const struct pleat_rows *rows = const_rows_of(object);
    int64_t most = pleat_dim_halo_processes(rows->rows, rows->halo, false);
    return size <= most ? 0
                        : pleat_error_set(err, PLEAT_E_INVALID,
                                          "rows '%s': with %d ranks a rank has fewer of the %lld "
                                          "rows than the halo of %lld: use at most %lld ranks",
                                          object->name, size, (long long)rows->rows,
                                          (long long)rows->halo, (long long)most);
}

const struct pleat_object_ops pleat_rows_ops = {
    .shape = rows_shape,
    .text = rows_text,
    .prepare = rows_prepare,
    .cancel = rows_cancel,
    .exchange = rows_exchange,
    .commit = rows_commit,
    .moved = rows_moved,
    .stored = rows_stored,
    .describe = rows_describe,
    .save = rows_save,
    .load = rows_load,
    .parts = rows_parts,
    .usable = rows_usable,
    .foresee = rows_foresee,
    .detach = rows_detach,
    .destroy = rows_destroy,
};

/* Address space for the array with its halo and padding; 0: more than can exist. */
static size_t space_of(int64_t count, size_t row_bytes, int64_t halo)
{
    size_t bytes, halo_bytes;
    if (__builtin_mul_overflow((size_t)count, row_bytes, &bytes) ||
        __builtin_mul_overflow((size_t)halo * 2, row_bytes, &halo_bytes) ||
        halo_bytes > PLEAT_STATE_BYTES_MAX ||
        __builtin_add_overflow(bytes, halo_bytes + pleat_page_bytes(), &bytes) ||
        bytes > PLEAT_STATE_BYTES_MAX)
        return 0;
    return bytes;
}

bool pleat_rows_fit(int64_t count, size_t row_bytes, int64_t halo)
{
    return count >= 1 && row_bytes >= 1 && halo >= 0 && space_of(count, row_bytes, halo);
}

/* The block of a program that starts. A rank that joins gets its block with the data, and a program
 * that goes on from a state must not change it before it is loaded. */
static int first_block(struct pleat_session *session, struct pleat_rows *rows,
                       struct pleat_error *err)
{
    if (session->joiner)
        return 0;
    rows->local = pleat_rows_block(rows, session->size, session->rank);
    if (!session->in_data || session->resumed)
        return open_block(rows, rows->local, err);
    share(rows, pleat_state_data(session->saved));
    int code = pleat_memory_is_strict()
                   ? pleat_memory_prepare(&rows->memory, span_of(rows, rows->local), err)
                   : 0;
    return code ? code : map_block(rows, err);
}

int pleat_rows_open(struct pleat_session *session, struct pleat_rows *rows, struct pleat_error *err)
{
    rows->memory.fd = -1;
    if (rows->rows < 1 || rows->row_bytes < 1 || rows->halo < 0)
        return pleat_error_set(
            err, PLEAT_E_INVALID,
            "rows '%s': %lld rows of %zu bytes with a halo of %lld: rows and bytes "
            "must be at least 1, the halo at least 0",
            rows->object.name, (long long)rows->rows, rows->row_bytes, (long long)rows->halo);
    const size_t bytes = space_of(rows->rows, rows->row_bytes, rows->halo);
    if (!bytes)
        return pleat_error_set(err, PLEAT_E_NOMEM, "rows '%s' are beyond any memory",
                               rows->object.name);
    rows->padding = (0 - (size_t)rows->halo * rows->row_bytes) & (pleat_page_bytes() - 1);
    int code = pleat_memory_reserve(&rows->memory, bytes, err);
    return code ? code : first_block(session, rows, err);
}

int pleat_rows_create(struct pleat_session *session, const char *name, int64_t count,
                      size_t row_bytes, int halo, struct pleat_rows **handle,
                      struct pleat_error *err)
{
    struct pleat_rows *rows = calloc(1, sizeof(*rows));
    if (!rows)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for rows '%s'", name ? name : "");
    *rows = (struct pleat_rows){
        .object = {.ops = &pleat_rows_ops, .offset = pleat_session_room(session)},
        .rows = count,
        .row_bytes = row_bytes,
        .halo = halo};
    if (name)
        strncpy(rows->object.name, name, sizeof(rows->object.name) - 1);
    int code = pleat_rows_open(session, rows, err);
    if (!code)
        code = pleat_session_add(session, &rows->object, name, err);
    if (code) {
        rows_destroy(&rows->object);
        return code;
    }
    *handle = rows;
    return 0;
}

void *pleat_rows_from(const struct pleat_rows *rows, int64_t before)
{
    return pleat_block_count(rows->local)
               ? rows->memory.base + pleat_rows_offset(rows, rows->local.first - before)
               : NULL;
}

void *pleat_rows_data(const struct pleat_rows *handle)
{
    return handle->memory.base + pleat_rows_offset(handle, handle->local.first);
}

int64_t pleat_rows_first(const struct pleat_rows *handle)
{
    return handle->local.first;
}

int64_t pleat_rows_count(const struct pleat_rows *handle)
{
    return pleat_block_count(handle->local);
}

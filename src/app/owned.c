/* Arrays of rows in contiguous blocks whose memory is the program's: its own malloc's, a library's,
 * a container's. A row is an item. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/blocks.h"
#include "app/items.h"
#include "app/session.h"

struct owned {
    struct pleat_items items;
    int64_t rows, count; /* rows of all ranks, and of this one */
    size_t row_bytes;
    struct pleat_owned_ops ops;
    void *arg;
    unsigned char *coming;
    int64_t coming_count;
};

static int64_t count_of(void *arg)
{
    return ((const struct owned *)arg)->count;
}

static void pack(int64_t item, void *to, void *arg)
{
    const struct owned *owned = arg;
    const unsigned char *data = owned->ops.data(owned->arg);
    memcpy(to, data + (size_t)item * owned->row_bytes, owned->row_bytes);
}

static int open_coming(int64_t count, int64_t bytes, void *arg)
{
    struct owned *owned = arg;
    (void)bytes;
    owned->coming = owned->ops.open(count, owned->arg);
    owned->coming_count = count;
    return owned->coming || !count ? 0 : -1;
}

static void unpack(int64_t item, const void *from, int64_t bytes, void *arg)
{
    struct owned *owned = arg;
    memcpy(owned->coming + (size_t)item * owned->row_bytes, from, (size_t)bytes);
}

static void close_coming(int taken, void *arg)
{
    struct owned *owned = arg;
    owned->coming = NULL;
    if (taken)
        owned->count = owned->coming_count;
    owned->ops.close(taken, owned->arg);
}

static const struct pleat_items_ops ops = {
    .count = count_of, .pack = pack, .open = open_coming, .unpack = unpack, .close = close_coming};

static void destroy(struct pleat_items *items)
{
    free(items);
}

void pleat_owned_block(int64_t rows, int size, int rank, int64_t *first, int64_t *count)
{
    struct pleat_block block =
        size > 0 && rows > 0 ? pleat_block_of(rows, size, rank) : (struct pleat_block){0, 0};
    *first = block.first;
    *count = pleat_block_count(block);
}

int pleat_owned_register(struct pleat_session *session, const char *name, int64_t rows,
                         size_t row_bytes, const struct pleat_owned_ops *ops_of_program, void *arg,
                         struct pleat_error *err)
{
    if (rows < 0 || row_bytes < 1 || row_bytes > INT32_MAX)
        return pleat_error_set(
            err, PLEAT_E_INVALID,
            "'%s': %lld rows of %zu bytes: there are at least 0 rows, of 1 to %d "
            "bytes",
            name ? name : "", (long long)rows, row_bytes, INT32_MAX);
    if (!ops_of_program || !ops_of_program->data || !ops_of_program->open || !ops_of_program->close)
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s': data, open and close are all needed",
                               name ? name : "");
    struct owned *owned = calloc(1, sizeof(*owned));
    if (!owned)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to register '%s'", name ? name : "");
    owned->rows = rows;
    owned->count = pleat_block_count(pleat_block_of(rows, session->size, session->rank));
    owned->row_bytes = row_bytes;
    owned->ops = *ops_of_program;
    owned->arg = arg;
    snprintf(owned->items.text, sizeof(owned->items.text), "%lld rows of %zu bytes, its own",
             (long long)rows, row_bytes);
    int code = pleat_items_add(session, &owned->items, name, &ops, (int64_t)row_bytes, owned,
                               destroy, err);
    if (code)
        free(owned);
    return code;
}

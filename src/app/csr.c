/* Sparse matrices in compressed rows (CSR): rows in contiguous blocks, each with a number of
 * entries, and arrays with a field for each entry (its column, its value). A row is an item. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/blocks.h"
#include "app/items.h"
#include "app/session.h"

#define FIELD_BYTES_MAX 65536

/* Rows of one block. */
struct rows {
    int64_t count;
    int64_t *start;                         /* count + 1 numbers, from 0 */
    unsigned char *field[PLEAT_CSR_FIELDS]; /* start[count] entries each */
};

struct pleat_csr {
    struct pleat_items items;
    struct pleat_session *session;
    int64_t rows; /* of all ranks */
    int fields;
    size_t field_bytes[PLEAT_CSR_FIELDS];
    size_t entry_bytes; /* of all fields */
    struct rows now, coming;
};

static void rows_finish(struct rows *rows)
{
    free(rows->start);
    for (int f = 0; f < PLEAT_CSR_FIELDS; f++)
        free(rows->field[f]);
    *rows = (struct rows){0};
}

/* Memory for `entries` entries, which are zero. */
static int rows_open(const struct pleat_csr *csr, int64_t count, int64_t entries, struct rows *rows)
{
    *rows = (struct rows){.count = count, .start = calloc((size_t)count + 1, sizeof(int64_t))};
    bool room = rows->start != NULL;
    for (int f = 0; f < csr->fields; f++) {
        rows->field[f] = calloc(entries ? (size_t)entries : 1, csr->field_bytes[f]);
        room &= rows->field[f] != NULL;
    }
    if (!room)
        rows_finish(rows);
    return room ? 0 : PLEAT_E_NOMEM;
}

static int64_t count_of(void *arg)
{
    return ((struct pleat_csr *)arg)->now.count;
}

static int64_t bytes_of(int64_t item, void *arg)
{
    const struct pleat_csr *csr = arg;
    return (csr->now.start[item + 1] - csr->now.start[item]) * (int64_t)csr->entry_bytes;
}

static void pack(int64_t item, void *to, void *arg)
{
    const struct pleat_csr *csr = arg;
    size_t first = (size_t)csr->now.start[item];
    size_t count = (size_t)csr->now.start[item + 1] - first;
    unsigned char *at = to;
    for (int f = 0; f < csr->fields; f++) {
        memcpy(at, csr->now.field[f] + first * csr->field_bytes[f], count * csr->field_bytes[f]);
        at += count * csr->field_bytes[f];
    }
}

static int open_coming(int64_t count, int64_t bytes, void *arg)
{
    struct pleat_csr *csr = arg;
    return rows_open(csr, count, bytes / (int64_t)csr->entry_bytes, &csr->coming);
}

static void unpack(int64_t item, const void *from, int64_t bytes, void *arg)
{
    struct pleat_csr *csr = arg;
    size_t count = (size_t)bytes / csr->entry_bytes;
    size_t first = (size_t)csr->coming.start[item];
    const unsigned char *at = from;
    for (int f = 0; f < csr->fields; f++) {
        memcpy(csr->coming.field[f] + first * csr->field_bytes[f], at, count * csr->field_bytes[f]);
        at += count * csr->field_bytes[f];
    }
    csr->coming.start[item + 1] = (int64_t)(first + count);
}

static struct pleat_block block_now(const struct pleat_csr *csr)
{
    return pleat_block_of(csr->rows, csr->session->size, csr->session->rank);
}

static void close_coming(int taken, void *arg)
{
    struct pleat_csr *csr = arg;
    rows_finish(taken ? &csr->now : &csr->coming);
    if (!taken)
        return;
    csr->now = csr->coming;
    csr->coming = (struct rows){0};
}

static const struct pleat_items_ops ops = {.count = count_of,
                                           .bytes = bytes_of,
                                           .pack = pack,
                                           .open = open_coming,
                                           .unpack = unpack,
                                           .close = close_coming};

static void destroy(struct pleat_items *items)
{
    struct pleat_csr *csr = (struct pleat_csr *)(void *)items;
    rows_finish(&csr->now);
    rows_finish(&csr->coming);
    free(csr);
}

static int check(const char *name, int64_t rows, const size_t *field_bytes, int fields,
                 struct pleat_error *err)
{
    if (rows < 0 || fields < 1 || fields > PLEAT_CSR_FIELDS)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'%s': %lld rows, %d fields: there are at least 0 rows, and 1 to %d "
                               "fields",
                               name, (long long)rows, fields, PLEAT_CSR_FIELDS);
    for (int f = 0; f < fields; f++)
        if (field_bytes[f] < 1 || field_bytes[f] > FIELD_BYTES_MAX)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "'%s': field %d of an entry has %zu bytes: it has 1 to %d", name,
                                   f, field_bytes[f], FIELD_BYTES_MAX);
    return 0;
}

/* Fills in what other ranks must have, too. */
static void describe(struct pleat_csr *csr)
{
    char *text = csr->items.text;
    const size_t size = sizeof(csr->items.text);
    int used = snprintf(text, size, "sparse matrix, %" PRId64 " rows, entries of", csr->rows);
    for (int f = 0; f < csr->fields && used > 0 && (size_t)used < size; f++)
        used +=
            snprintf(text + used, size - (size_t)used, "%s%zu", f ? "+" : " ", csr->field_bytes[f]);
}

int pleat_csr_create(struct pleat_session *session, const char *name, int64_t rows,
                     const size_t *field_bytes, int fields, struct pleat_csr **handle,
                     struct pleat_error *err)
{
    int code = check(name ? name : "", rows, field_bytes, fields, err);
    if (code)
        return code;
    struct pleat_csr *csr = calloc(1, sizeof(*csr));
    if (!csr)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for '%s'", name ? name : "");
    csr->session = session;
    csr->rows = rows;
    csr->fields = fields;
    for (int f = 0; f < fields; f++) {
        csr->field_bytes[f] = field_bytes[f];
        csr->entry_bytes += field_bytes[f];
    }
    describe(csr);
    if (rows_open(csr, pleat_block_count(block_now(csr)), 0, &csr->now))
        code =
            pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the rows of '%s'", name ? name : "");
    if (!code)
        code = pleat_items_add(session, &csr->items, name, &ops, 0, csr, destroy, err);
    if (code) {
        destroy(&csr->items);
        return code;
    }
    *handle = csr;
    return 0;
}

int pleat_csr_set_lengths(struct pleat_csr *csr, const int64_t *lengths, struct pleat_error *err)
{
    const int64_t most = INT32_MAX / (int64_t)csr->entry_bytes;
    struct rows made;
    int64_t entries = 0;
    for (int64_t i = 0; i < csr->now.count; i++) {
        if (lengths[i] < 0 || lengths[i] > most)
            return pleat_error_set(
                err, PLEAT_E_INVALID, "'%s': local row %lld has %lld entries: it has 0 to %lld",
                csr->items.object.name, (long long)i, (long long)lengths[i], (long long)most);
        entries += lengths[i];
    }
    if (rows_open(csr, csr->now.count, entries, &made))
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for %lld entries of '%s'",
                               (long long)entries, csr->items.object.name);
    for (int64_t i = 0; i < made.count; i++)
        made.start[i + 1] = made.start[i] + lengths[i];
    rows_finish(&csr->now);
    csr->now = made;
    return 0;
}

int64_t pleat_csr_first(const struct pleat_csr *csr)
{
    return block_now(csr).first;
}

int64_t pleat_csr_count(const struct pleat_csr *csr)
{
    return csr->now.count;
}

const int64_t *pleat_csr_start(const struct pleat_csr *csr)
{
    return csr->now.start;
}

void *pleat_csr_field(const struct pleat_csr *csr, int field)
{
    return field >= 0 && field < csr->fields ? csr->now.field[field] : NULL;
}

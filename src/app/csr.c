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

struct pleat_csr {
    struct pleat_items items;
    /* Column 0: where the entries of each row begin, count + 1 numbers from 0. Then the fields,
     * each with as many entries as the last of these says. */
    struct pleat_home home;
    struct pleat_session *session;
    int64_t rows; /* rows of all ranks */
    int fields;
    size_t field_bytes[PLEAT_CSR_FIELDS];
    size_t entry_bytes; /* bytes of an entry in all fields together */
    int64_t count, coming_count;
};

static int64_t *start_of(const struct pleat_home_part *part)
{
    return (int64_t *)(void *)part->column[0].at;
}

static unsigned char *field_of(const struct pleat_home_part *part, int field)
{
    return part->column[1 + field].at;
}

static void columns_of(const struct pleat_csr *csr, int64_t count, int64_t entries,
                       size_t bytes[PLEAT_HOME_COLUMNS])
{
    memset(bytes, 0, PLEAT_HOME_COLUMNS * sizeof(*bytes));
    bytes[0] = ((size_t)count + 1) * sizeof(int64_t);
    for (int f = 0; f < csr->fields; f++)
        bytes[1 + f] = (size_t)entries * csr->field_bytes[f];
}

static int64_t count_of(void *arg)
{
    return ((struct pleat_csr *)arg)->count;
}

static int64_t bytes_of(int64_t item, void *arg)
{
    const struct pleat_csr *csr = arg;
    const int64_t *start = start_of(&csr->home.now);
    return (start[item + 1] - start[item]) * (int64_t)csr->entry_bytes;
}

static void pack(int64_t item, void *to, void *arg)
{
    const struct pleat_csr *csr = arg;
    const int64_t *start = start_of(&csr->home.now);
    size_t first = (size_t)start[item];
    size_t count = (size_t)start[item + 1] - first;
    unsigned char *at = to;
    for (int f = 0; f < csr->fields && count; f++) {
        memcpy(at, field_of(&csr->home.now, f) + first * csr->field_bytes[f],
               count * csr->field_bytes[f]);
        at += count * csr->field_bytes[f];
    }
}

static int open_coming(int64_t count, int64_t bytes, void *arg)
{
    struct pleat_csr *csr = arg;
    size_t columns[PLEAT_HOME_COLUMNS];
    columns_of(csr, count, bytes / (int64_t)csr->entry_bytes, columns);
    csr->coming_count = count;
    return pleat_home_open(&csr->home, columns) ? 0 : -1;
}

static void unpack(int64_t item, const void *from, int64_t bytes, void *arg)
{
    struct pleat_csr *csr = arg;
    int64_t *start = start_of(&csr->home.coming);
    if (item == 0)
        start[0] = 0;
    size_t count = (size_t)bytes / csr->entry_bytes;
    size_t first = (size_t)start[item];
    const unsigned char *at = from;
    for (int f = 0; f < csr->fields && count; f++) {
        memcpy(field_of(&csr->home.coming, f) + first * csr->field_bytes[f], at,
               count * csr->field_bytes[f]);
        at += count * csr->field_bytes[f];
    }
    start[item + 1] = (int64_t)(first + count);
}

static struct pleat_block block_now(const struct pleat_csr *csr)
{
    return pleat_block_of(csr->rows, csr->session->size, csr->session->rank);
}

static void close_coming(int taken, void *arg)
{
    struct pleat_csr *csr = arg;
    if (taken && !csr->coming_count)
        start_of(&csr->home.coming)[0] = 0;
    pleat_home_close(&csr->home, taken);
    if (taken)
        csr->count = csr->coming_count;
}

static void leave(void *arg)
{
    struct pleat_csr *csr = arg;
    pleat_home_leave(&csr->home);
    if (csr->home.now.place.fd >= 0)
        csr->count = 0;
}

/* ---- rows of other ranks, in the data file ---- */

/* Where the entries of a piece's rows begin, count + 1 numbers. */
static int view_start(const struct pleat_csr *csr, const struct pleat_home_piece *piece,
                      struct pleat_home_view *view, struct pleat_error *err)
{
    const uint64_t count = (uint64_t)piece->count + 1;
    int code =
        pleat_home_view(&csr->home, &piece->from, 0, (uint64_t)piece->first * sizeof(int64_t),
                        count * sizeof(int64_t), view, err);
    const int64_t *start = (const int64_t *)(const void *)view->at;
    bool good = code || start[0] >= 0;
    for (uint64_t i = 1; !code && i < count; i++)
        good &= start[i] >= start[i - 1];
    if (code || good)
        return code;
    pleat_home_view_end(&csr->home, view);
    return pleat_error_set(err, PLEAT_E_CORRUPT, "the memory of '%s' is damaged", csr->home.name);
}

static int copy_fields(const struct pleat_csr *csr, const struct pleat_home_piece *piece,
                       int64_t first, int64_t entries, int64_t done, struct pleat_error *err)
{
    int code = 0;
    for (int f = 0; f < csr->fields && !code && entries; f++) {
        const uint64_t bytes = (uint64_t)entries * csr->field_bytes[f];
        struct pleat_home_view view;
        code = pleat_home_view(&csr->home, &piece->from, 1 + f,
                               (uint64_t)first * csr->field_bytes[f], bytes, &view, err);
        if (!code)
            memcpy(field_of(&csr->home.coming, f) + (size_t)done * csr->field_bytes[f], view.at,
                   (size_t)bytes);
        pleat_home_view_end(&csr->home, &view);
    }
    return code;
}

/* Copies a piece behind `rows` rows with `entries` entries, and counts on. */
static int copy_piece(const struct pleat_csr *csr, const struct pleat_home_piece *piece,
                      int64_t *rows, int64_t *entries, struct pleat_error *err)
{
    struct pleat_home_view view;
    int64_t *to = start_of(&csr->home.coming);
    int code = view_start(csr, piece, &view, err);
    if (code)
        return code;
    const int64_t *start = (const int64_t *)(const void *)view.at;
    for (int64_t i = 0; i < piece->count; i++)
        to[*rows + i + 1] = *entries + start[i + 1] - start[0];
    const int64_t here = start[piece->count] - start[0];
    code = copy_fields(csr, piece, start[0], here, *entries, err);
    *rows += piece->count;
    *entries += here;
    pleat_home_view_end(&csr->home, &view);
    return code;
}

static int adopt(const struct pleat_home_piece *pieces, size_t count, void *arg,
                 struct pleat_error *err)
{
    struct pleat_csr *csr = arg;
    struct pleat_home_view view;
    int64_t rows = 0;
    int64_t entries = 0;
    int code = 0;
    for (size_t i = 0; i < count && !code; i++) {
        code = view_start(csr, &pieces[i], &view, err);
        if (code)
            break;
        const int64_t *start = (const int64_t *)(const void *)view.at;
        entries += start[pieces[i].count] - start[0];
        rows += pieces[i].count;
        pleat_home_view_end(&csr->home, &view);
    }
    if (!code && (open_coming(rows, entries * (int64_t)csr->entry_bytes, csr) ||
                  !pleat_home_fill(&csr->home)))
        code = pleat_error_set(err, PLEAT_E_NOMEM, "no memory for %" PRId64 " entries of '%s'",
                               entries, csr->home.name);
    rows = entries = 0;
    if (!code)
        start_of(&csr->home.coming)[0] = 0;
    for (size_t i = 0; i < count && !code; i++)
        code = copy_piece(csr, &pieces[i], &rows, &entries, err);
    return code;
}

static int needs_fields(const struct pleat_csr *csr, const struct pleat_home_piece *piece,
                        struct pleat_stretches *list, struct pleat_error *err)
{
    struct pleat_home_view view;
    int code = view_start(csr, piece, &view, err);
    const int64_t *start = (const int64_t *)(const void *)view.at;
    for (int f = 0; f < csr->fields && !code; f++) {
        const uint64_t at = pleat_home_offset(&csr->home, &piece->from, 1 + f);
        code = pleat_stretches_add(list, at + (uint64_t)start[0] * csr->field_bytes[f],
                                   at + (uint64_t)start[piece->count] * csr->field_bytes[f]);
    }
    pleat_home_view_end(&csr->home, &view);
    return code;
}

static int needs(const struct pleat_home_piece *pieces, size_t count, int step, void *arg,
                 struct pleat_stretches *list, struct pleat_error *err)
{
    const struct pleat_csr *csr = arg;
    int code = 0;
    for (size_t i = 0; i < count && !code; i++) {
        const uint64_t at = pleat_home_offset(&csr->home, &pieces[i].from, 0) +
                            (uint64_t)pieces[i].first * sizeof(int64_t);
        code = step ? needs_fields(csr, &pieces[i], list, err)
                    : pleat_stretches_add(list, at,
                                          at + ((uint64_t)pieces[i].count + 1) * sizeof(int64_t));
    }
    return code;
}

static const struct pleat_home_ops home_ops = {.adopt = adopt, .needs = needs, .leave = leave};

static const struct pleat_items_ops ops = {.count = count_of,
                                           .bytes = bytes_of,
                                           .pack = pack,
                                           .open = open_coming,
                                           .unpack = unpack,
                                           .close = close_coming};

static void destroy(struct pleat_items *items)
{
    struct pleat_csr *csr = (struct pleat_csr *)(void *)items;
    pleat_home_finish(&csr->home);
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

/* Describes the matrix, as it must be on all ranks. */
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
    size_t columns[PLEAT_HOME_COLUMNS];
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
    csr->count = pleat_block_count(block_now(csr));
    columns_of(csr, csr->count, 0, columns);
    code = pleat_home_init(&csr->home, session, 1 + fields, err);
    if (!code && !pleat_home_renew(&csr->home, columns))
        code =
            pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the rows of '%s'", name ? name : "");
    pleat_items_live(&csr->items, &csr->home, &home_ops);
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
    size_t columns[PLEAT_HOME_COLUMNS];
    int64_t entries = 0;
    for (int64_t i = 0; i < csr->count; i++) {
        if (lengths[i] < 0 || lengths[i] > most)
            return pleat_error_set(
                err, PLEAT_E_INVALID, "'%s': local row %lld has %lld entries: it has 0 to %lld",
                csr->items.object.name, (long long)i, (long long)lengths[i], (long long)most);
        entries += lengths[i];
    }
    columns_of(csr, csr->count, entries, columns);
    if (!pleat_home_renew(&csr->home, columns))
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for %lld entries of '%s'",
                               (long long)entries, csr->items.object.name);
    int64_t *start = start_of(&csr->home.now);
    for (int64_t i = 0; i < csr->count; i++)
        start[i + 1] = start[i] + lengths[i];
    return 0;
}

int64_t pleat_csr_first(const struct pleat_csr *csr)
{
    return block_now(csr).first;
}

int64_t pleat_csr_count(const struct pleat_csr *csr)
{
    return csr->count;
}

const int64_t *pleat_csr_start(const struct pleat_csr *csr)
{
    return start_of(&csr->home.now);
}

void *pleat_csr_field(const struct pleat_csr *csr, int field)
{
    return field >= 0 && field < csr->fields ? field_of(&csr->home.now, field) : NULL;
}

#include "store/pages.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"

enum {
    FILE_HEADER = 100,
    WAL_HEADER = 32,
    FRAME_HEADER = 24,
    INDEX_LEAF = 0x0a,
    TABLE_LEAF = 0x0d,
    PAYLOAD_MAX = 16 * 1024 * 1024
};

struct image {
    const unsigned char *bytes;
    size_t size;
};

/* A committed page of the write-ahead log. */
struct frame {
    uint32_t page;
    const unsigned char *bytes;
};

PLEAT_ARRAY(frames, struct frame);

struct pages {
    struct image file, wal;
    struct frames frames;
    size_t size; /* size of a page, in bytes */
    pleat_row_callback callback;
    void *arg;
    unsigned char *payload; /* room for a row that goes over several pages */
};

static uint32_t big16(const unsigned char *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t big32(const unsigned char *at)
{
    return big16(at) << 16 | big16(at + 2);
}

static struct image map(const char *path)
{
    struct image image = {0};
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return image;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED)
            image = (struct image){bytes, (size_t)st.st_size};
    }
    close(fd);
    return image;
}

static void unmap(struct image *image)
{
    if (image->bytes)
        munmap((void *)(uintptr_t)image->bytes, image->size);
}

static bool is_page_size(uint32_t size)
{
    return size >= 512 && size <= 65536 && (size & (size - 1)) == 0;
}

/* ---- the write-ahead log ---- */

/* Collects the frames of the log's present generation, up to the last one that commits. Damaged
 * frames do not end it: the callback must check every row anyway. */
static int read_wal(struct pages *pages)
{
    const struct image *wal = &pages->wal;
    if (wal->size < WAL_HEADER || (big32(wal->bytes) & ~1u) != 0x377f0682u)
        return 0;
    uint32_t size = big32(wal->bytes + 8);
    if (!is_page_size(size))
        return 0;
    pages->size = size;
    size_t committed = 0;
    for (size_t at = WAL_HEADER; at + FRAME_HEADER + size <= wal->size; at += FRAME_HEADER + size) {
        const unsigned char *head = wal->bytes + at;
        if (memcmp(head + 8, wal->bytes + 16, 8) != 0)
            continue;
        struct frame frame = {big32(head), head + FRAME_HEADER};
        if (pleat_array_push(&pages->frames, frame))
            return PLEAT_E_NOMEM;
        if (big32(head + 4))
            committed = pages->frames.count;
    }
    pages->frames.count = committed;
    return 0;
}

/* The newest content of a page; NULL: there is no such page. */
static const unsigned char *find_page(const struct pages *pages, uint32_t number)
{
    for (size_t i = pages->frames.count; i > 0; i--)
        if (pages->frames.items[i - 1].page == number)
            return pages->frames.items[i - 1].bytes;
    if (number == 0 || number > pages->file.size / pages->size)
        return NULL;
    return pages->file.bytes + (size_t)(number - 1) * pages->size;
}

/* ---- rows ---- */

/* Returns the number of bytes used; 0: the number goes beyond the end. */
static size_t read_varint(const unsigned char *at, const unsigned char *end, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < 9 && at + i < end; i++) {
        if (i == 8) {
            *value = *value << 8 | at[i];
            return 9;
        }
        *value = *value << 7 | (at[i] & 0x7f);
        if (!(at[i] & 0x80))
            return i + 1;
    }
    return 0;
}

static bool read_cell(uint64_t type, const unsigned char **at, const unsigned char *end,
                      struct pleat_cell *cell)
{
    static const unsigned char sizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
    uint64_t size = type >= 12 ? (type - 12) / 2 : type < 10 ? sizes[type] : 0;
    if (type == 10 || type == 11 || size > (uint64_t)(end - *at))
        return false;
    memset(cell, 0, sizeof(*cell));
    if (type >= 12) {
        cell->kind = type % 2 ? PLEAT_CELL_TEXT : PLEAT_CELL_BLOB;
        cell->bytes = *at;
        cell->size = (size_t)size;
    } else if (type > 0) {
        uint64_t value = size && (*at)[0] & 0x80 ? UINT64_MAX : 0;
        for (uint64_t i = 0; i < size; i++)
            value = value << 8 | (*at)[i];
        cell->kind = PLEAT_CELL_INTEGER;
        cell->integer = type >= 8 ? (int64_t)type - 8 : (int64_t)value;
    }
    *at += size;
    return true;
}

static int read_row(struct pages *pages, const unsigned char *payload, size_t size,
                    struct pleat_row *row)
{
    const unsigned char *end = payload + size;
    uint64_t head_size;
    size_t used = read_varint(payload, end, &head_size);
    if (!used || head_size > size)
        return 0;
    const unsigned char *type_at = payload + used, *head_end = payload + head_size;
    const unsigned char *at = head_end;
    for (row->count = 0; type_at < head_end; row->count++) {
        uint64_t type;
        used = read_varint(type_at, head_end, &type);
        if (!used || row->count == PLEAT_PAGES_COLUMNS_MAX ||
            !read_cell(type, &at, end, &row->cells[row->count]))
            return 0;
        type_at += used;
    }
    return row->count ? pages->callback(pages->arg, row) : 0;
}

/* Reads a row of which only the first `local` bytes are on its page. */
static int read_long_row(struct pages *pages, const unsigned char *at, size_t local, size_t size,
                         struct pleat_row *row)
{
    memcpy(pages->payload, at, local);
    uint32_t next = big32(at + local);
    while (local < size) {
        const unsigned char *page = find_page(pages, next);
        size_t part = size - local < pages->size - 4 ? size - local : pages->size - 4;
        if (!page)
            return 0;
        memcpy(pages->payload + local, page + 4, part);
        local += part;
        next = big32(page);
    }
    return read_row(pages, pages->payload, size, row);
}

static int read_at(struct pages *pages, const unsigned char *at, const unsigned char *end,
                   bool table)
{
    struct pleat_row row = {.of_table = table};
    uint64_t size, rowid = 0;
    size_t used = read_varint(at, end, &size);
    if (!used || size == 0 || size > PAYLOAD_MAX)
        return 0;
    at += used;
    used = table ? read_varint(at, end, &rowid) : 0;
    if (table && !used)
        return 0;
    at += used;
    row.rowid = (int64_t)rowid;
    size_t usable = pages->size;
    size_t most = table ? usable - 35 : (usable - 12) * 64 / 255 - 23;
    size_t least = (usable - 12) * 32 / 255 - 23;
    size_t local = (size_t)size;
    if (size > most) {
        local = least + ((size_t)size - least) % (usable - 4);
        if (local > most)
            local = least;
        if (local + 4 > (size_t)(end - at))
            return 0;
        return read_long_row(pages, at, local, (size_t)size, &row);
    }
    return local > (size_t)(end - at) ? 0 : read_row(pages, at, local, &row);
}

static int read_page(struct pages *pages, const unsigned char *page, bool first)
{
    const unsigned char *head = page + (first ? FILE_HEADER : 0), *end = page + pages->size;
    if (head[0] != TABLE_LEAF && head[0] != INDEX_LEAF)
        return 0;
    size_t count = big16(head + 3);
    for (size_t i = 0; i < count && head + 10 + 2 * i <= end; i++) {
        size_t offset = big16(head + 8 + 2 * i);
        if (offset >= pages->size)
            continue;
        int rc = read_at(pages, page + offset, end, head[0] == TABLE_LEAF);
        if (rc)
            return rc;
    }
    return 0;
}

static int read_all(struct pages *pages)
{
    int rc = 0;
    for (size_t i = pages->frames.count; !rc && i > 0; i--) /* the newest first */
        rc = read_page(pages, pages->frames.items[i - 1].bytes,
                       pages->frames.items[i - 1].page == 1);
    const struct image *file = &pages->file;
    for (size_t n = 0; !rc && file->bytes && (n + 1) * pages->size <= file->size; n++)
        rc = read_page(pages, file->bytes + n * pages->size, n == 0);
    return rc;
}

/* Guesses the page size where the header does not say it: with the right size, the most pages look
 * like pages with rows. */
static size_t guess_size(const struct image *file)
{
    size_t best = 4096, most = 0;
    for (size_t size = 65536; size >= 512; size /= 2) {
        size_t count = 0;
        for (size_t at = size; at + size <= file->size; at += size) {
            const unsigned char *head = file->bytes + at;
            size_t cells = big16(head + 3), content = big16(head + 5);
            count += (head[0] == TABLE_LEAF || head[0] == INDEX_LEAF) && cells > 0 &&
                     content >= 8 + 2 * cells && content < size;
        }
        if (count > most) {
            most = count;
            best = size;
        }
    }
    return best;
}

int pleat_pages_read(const char *path, const char *wal_path, pleat_row_callback callback, void *arg)
{
    struct pages pages = {.callback = callback, .arg = arg};
    pages.file = map(path);
    pages.wal = map(wal_path);
    pages.size = guess_size(&pages.file);
    if (pages.file.size >= FILE_HEADER && !memcmp(pages.file.bytes, "SQLite format 3", 16)) {
        uint32_t size = big16(pages.file.bytes + 16);
        if (is_page_size(size == 1 ? 65536 : size))
            pages.size = size == 1 ? 65536 : size;
    }
    int rc = read_wal(&pages);
    pages.payload = malloc(PAYLOAD_MAX);
    if (!pages.payload)
        rc = PLEAT_E_NOMEM;
    if (!rc)
        rc = read_all(&pages);
    free(pages.payload);
    pleat_array_finish(&pages.frames);
    unmap(&pages.file);
    unmap(&pages.wal);
    return rc;
}

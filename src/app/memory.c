#include "app/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_floor(size_t offset)
{
    return offset & ~(pleat_page_bytes() - 1);
}

static size_t page_ceil(size_t offset)
{
    return page_floor(offset + pleat_page_bytes() - 1);
}

size_t pleat_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

int pleat_memory_reserve(struct pleat_memory *memory, size_t bytes, struct pleat_error *err)
{
    size_t whole = page_ceil(bytes);
    if (whole < bytes)
        return pleat_error_set(err, PLEAT_E_NOMEM, "an array of %zu bytes is beyond any memory",
                               bytes);
    if (whole == 0)
        whole = page_ceil(1);
    void *base = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return pleat_error_set(err, PLEAT_E_NOMEM,
                               "cannot reserve %zu bytes of address space for the whole array: is "
                               "there a limit on it (ulimit -v)?",
                               whole);
    *memory = (struct pleat_memory){.base = base, .bytes = whole, .fd = -1};
    return 0;
}

void pleat_memory_release(struct pleat_memory *memory)
{
    if (memory->base)
        munmap(memory->base, memory->bytes);
    *memory = (struct pleat_memory){.fd = -1};
}

void pleat_memory_populate(const struct pleat_memory *memory, size_t first, size_t end)
{
    first = page_floor(first);
    end = page_ceil(end);
    if (first < end)
        (void)madvise(memory->base + first, end - first, MADV_POPULATE_WRITE);
}

bool pleat_memory_is_strict(void)
{
    char mode = '\0';
    int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool known = read(fd, &mode, 1) == 1;
    close(fd);
    return known && mode == '2';
}

/* ---- private memory ---- */

int pleat_memory_open(struct pleat_memory *memory, size_t first, size_t end,
                      struct pleat_error *err)
{
    if (first >= end)
        return 0;
    first = page_floor(first);
    end = page_ceil(end);
    if (memory->open.first < memory->open.end) {
        first = first < memory->open.first ? first : memory->open.first;
        end = end > memory->open.end ? end : memory->open.end;
    }
    if (mprotect(memory->base + first, end - first, PROT_READ | PROT_WRITE))
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for %zu bytes of rows (errno %d)",
                               end - first, errno);
    memory->open.first = first;
    memory->open.end = end;
    return 0;
}

static void give_back(struct pleat_memory *memory, size_t first, size_t end)
{
    if (first >= end)
        return;
    /* If protecting fails, the pages just stay usable. */
    if (madvise(memory->base + first, end - first, MADV_DONTNEED) == 0)
        (void)mprotect(memory->base + first, end - first, PROT_NONE);
}

void pleat_memory_keep(struct pleat_memory *memory, size_t first, size_t end)
{
    first = page_floor(first);
    end = page_ceil(end);
    if (first >= end || first >= memory->open.end || end <= memory->open.first) {
        give_back(memory, memory->open.first, memory->open.end);
        memory->open.first = memory->open.end = 0;
        return;
    }
    if (memory->open.first < first) {
        give_back(memory, memory->open.first, first);
        memory->open.first = first;
    }
    if (memory->open.end > end) {
        give_back(memory, end, memory->open.end);
        memory->open.end = end;
    }
}

/* ---- memory of a file ---- */

static bool is_empty(struct pleat_span span)
{
    return span.first >= span.end;
}

/* The pages that lie wholly inside. */
static struct pleat_span pages_inside(struct pleat_span span)
{
    struct pleat_span inside = {page_ceil(span.first), page_floor(span.end)};
    return is_empty(span) || is_empty(inside) ? (struct pleat_span){0, 0} : inside;
}

/* The pages that it touches. */
static struct pleat_span pages_around(struct pleat_span span)
{
    return is_empty(span) ? (struct pleat_span){0, 0}
                          : (struct pleat_span){page_floor(span.first), page_ceil(span.end)};
}

static struct pleat_span common(struct pleat_span a, struct pleat_span b)
{
    return (struct pleat_span){a.first > b.first ? a.first : b.first,
                               a.end < b.end ? a.end : b.end};
}

/* The bytes of `whole` that are not in `without`: two pieces, each of which may be empty. */
static void subtract(struct pleat_span whole, struct pleat_span without, struct pleat_span piece[2])
{
    piece[0] = whole;
    piece[1] = (struct pleat_span){0, 0};
    if (is_empty(without) || without.first >= whole.end || without.end <= whole.first)
        return;
    piece[0] = (struct pleat_span){whole.first, without.first};
    piece[1] = (struct pleat_span){without.end, whole.end};
}

enum pages { UNUSABLE, PRIVATE, OF_FILE };

/* Gives the pages of a span the wanted kind, whatever they were. */
static int put(const struct pleat_memory *memory, struct pleat_span span, enum pages what)
{
    const bool in_file = what == OF_FILE;
    if (is_empty(span))
        return 0;
    int flags = MAP_FIXED | (what == OF_FILE ? MAP_SHARED : MAP_PRIVATE) |
                (in_file ? 0 : MAP_ANONYMOUS) | (what == UNUSABLE ? MAP_NORESERVE : 0);
    void *at = mmap(memory->base + span.first, span.end - span.first,
                    what == UNUSABLE ? PROT_NONE : PROT_READ | PROT_WRITE, flags,
                    in_file ? memory->fd : -1,
                    in_file ? (off_t)(memory->origin + (int64_t)span.first) : 0);
    return at == MAP_FAILED ? PLEAT_E_NOMEM : 0;
}

static int no_mapping(struct pleat_error *err, struct pleat_span block)
{
    return pleat_error_set(err, PLEAT_E_NOMEM, "cannot map %zu bytes of rows (errno %d)",
                           block.end - block.first, errno);
}

void pleat_memory_share(struct pleat_memory *memory, int fd, int64_t origin)
{
    memory->fd = fd;
    memory->origin = origin;
}

int pleat_memory_prepare(struct pleat_memory *memory, struct pleat_span block,
                         struct pleat_error *err)
{
    struct pleat_span piece[2];
    memory->prepared = true;
    subtract(pages_inside(block), memory->open, piece);
    for (int i = 0; i < 2; i++) {
        bool failed = put(memory, piece[i], OF_FILE) != 0;
        /* Pages of which there is no memory would raise a signal when they are touched. Reading
         * maps many pages of a file at each fault, writing only one; what was read once is written
         * without a further fault. */
        if (!failed && !is_empty(piece[i]))
            failed = madvise(memory->base + piece[i].first, piece[i].end - piece[i].first,
                             MADV_POPULATE_READ) &&
                     errno != EINVAL;
        if (failed) {
            int code = no_mapping(err, block);
            pleat_memory_unprepare(memory, block);
            return code;
        }
    }
    return 0;
}

int pleat_memory_prepare_unprovided(struct pleat_memory *memory, struct pleat_span block,
                                    struct pleat_span *pages, struct pleat_error *err)
{
    *pages = pages_inside(block);
    if (put(memory, *pages, OF_FILE))
        return no_mapping(err, block);
    memory->prepared = true;
    return 0;
}

void pleat_memory_unprepare(struct pleat_memory *memory, struct pleat_span block)
{
    struct pleat_span piece[2];
    subtract(pages_inside(block), memory->open, piece);
    for (int i = 0; i < 2 && memory->prepared; i++)
        (void)put(memory, piece[i], UNUSABLE); /* if this fails they just stay */
    memory->prepared = false;
}

int pleat_memory_move(struct pleat_memory *memory, struct pleat_span block, struct pleat_span open,
                      struct pleat_error *err)
{
    const struct pleat_span shared = pages_inside(block);
    /* Pages that were mapped by pleat_memory_prepare have their memory, and stay. */
    const struct pleat_span unmapped = memory->prepared ? common(shared, memory->open) : shared;
    struct pleat_span piece[2];
    int code = 0;
    open = pages_around(open);
    subtract(memory->open, open, piece);
    for (int i = 0; i < 2 && !code; i++)
        code = put(memory, piece[i], UNUSABLE);
    subtract(open, shared, piece);
    for (int i = 0; i < 2 && !code; i++)
        code = put(memory, piece[i], PRIVATE);
    subtract(unmapped, memory->shared, piece);
    for (int i = 0; i < 2 && !code; i++)
        code = put(memory, piece[i], OF_FILE);
    if (code)
        return no_mapping(err, block);
    memory->open = open;
    memory->shared = shared;
    memory->prepared = false;
    return 0;
}

/* Mapping something else in the place of many pages takes long, since the kernel forgets each by
 * itself. So what is there is moved out of the way first, where it stays until the process ends:
 * that moves whole page tables, if the new place is aligned as the old one is. */
static void move_away(void *at, size_t bytes)
{
    const size_t table = (size_t)2 << 20;
    if (bytes < table)
        return;
    unsigned char *room =
        mmap(NULL, bytes + table, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return;
    size_t shift = ((uintptr_t)at - (uintptr_t)room) % table;
    if (mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, room + shift) == MAP_FAILED)
        (void)munmap(room, bytes + table);
}

int pleat_memory_cut_off(void *at, size_t bytes, int fd, int64_t offset)
{
    move_away(at, bytes);
    if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, (off_t)offset) !=
        MAP_FAILED)
        return 0;
    (void)mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
               0);
    return PLEAT_E_NOMEM;
}

void pleat_memory_detach(struct pleat_memory *memory)
{
    const struct pleat_span shared = memory->shared;
    memory->shared = (struct pleat_span){0, 0};
    if (!is_empty(shared) &&
        pleat_memory_cut_off(memory->base + shared.first, shared.end - shared.first, memory->fd,
                             memory->origin + (int64_t)shared.first))
        return; /* a program that uses them nevertheless ends */
}

#include "app/memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_floor(size_t offset)
{
    return offset & ~((size_t)sysconf(_SC_PAGESIZE) - 1);
}

static size_t page_ceil(size_t offset)
{
    return page_floor(offset + (size_t)sysconf(_SC_PAGESIZE) - 1);
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
    *memory = (struct pleat_memory){.base = base, .bytes = whole};
    return 0;
}

void pleat_memory_release(struct pleat_memory *memory)
{
    if (memory->base)
        munmap(memory->base, memory->bytes);
    *memory = (struct pleat_memory){0};
}

int pleat_memory_open(struct pleat_memory *memory, size_t first, size_t end,
                      struct pleat_error *err)
{
    if (first >= end)
        return 0;
    first = page_floor(first);
    end = page_ceil(end);
    if (memory->open_first < memory->open_end) {
        first = first < memory->open_first ? first : memory->open_first;
        end = end > memory->open_end ? end : memory->open_end;
    }
    if (mprotect(memory->base + first, end - first, PROT_READ | PROT_WRITE))
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for %zu bytes of rows (errno %d)",
                               end - first, errno);
    memory->open_first = first;
    memory->open_end = end;
    return 0;
}

void pleat_memory_populate(const struct pleat_memory *memory, size_t first, size_t end)
{
    first = page_floor(first);
    end = page_ceil(end);
    if (first < end)
        (void)madvise(memory->base + first, end - first, MADV_POPULATE_WRITE);
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
    if (first >= end || first >= memory->open_end || end <= memory->open_first) {
        give_back(memory, memory->open_first, memory->open_end);
        memory->open_first = memory->open_end = 0;
        return;
    }
    if (memory->open_first < first) {
        give_back(memory, memory->open_first, first);
        memory->open_first = first;
    }
    if (memory->open_end > end) {
        give_back(memory, end, memory->open_end);
        memory->open_end = end;
    }
}

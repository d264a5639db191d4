/* Memory of a file, mapped while others still write to the file for the first time.
 *
 * Pages that they have not written have no memory in the file yet. Pages are provided in pieces,
 * once the others have written these; otherwise this process would take the memory, perhaps of a
 * file that will not be used. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "app/memory.h"

#define PIECE ((size_t)2 << 20)
#define PAGE_LEAST 4096 /* bytes; no processor that Linux runs on has smaller pages */
#define AT_ONCE 16      /* pieces, in some milliseconds */

static size_t piece_count(const struct pleat_memory_ahead *ahead)
{
    return (ahead->pages.end - ahead->pages.first + PIECE - 1) / PIECE;
}

static struct pleat_span piece_of(const struct pleat_memory_ahead *ahead, size_t piece)
{
    size_t first = ahead->pages.first + piece * PIECE;
    return (struct pleat_span){first,
                               first + PIECE < ahead->pages.end ? first + PIECE : ahead->pages.end};
}

/* Reading maps many pages of a file at each fault; what was read once is written without another.
 */
static bool provide(const struct pleat_memory_ahead *ahead, struct pleat_span piece)
{
    return !madvise(ahead->base + piece.first, piece.end - piece.first, MADV_POPULATE_READ) ||
           errno == EINVAL; /* a kernel that does not know it */
}

/* mincore looks at these pages only; lseek would look for the next hole, which is as far away as
 * the file is filled, for each piece anew. */
size_t pleat_memory_there(unsigned char *at, size_t bytes)
{
    unsigned char in_memory[PIECE / PAGE_LEAST];
    const size_t page_bytes = pleat_page_bytes();
    size_t there = 0;
    for (size_t done = 0; done < bytes; done += PIECE) {
        const size_t piece = bytes - done < PIECE ? bytes - done : PIECE;
        if (mincore(at + done, piece, in_memory))
            continue;
        for (size_t page = 0; page < piece / page_bytes; page++)
            there += in_memory[page] & 1 ? page_bytes : 0;
    }
    return there;
}

/* Whether most of a piece is in the file: pages that two ranks share are there only once they are
 * saved. */
static bool is_there(const struct pleat_memory_ahead *ahead, struct pleat_span piece)
{
    const size_t bytes = piece.end - piece.first;
    return 2 * pleat_memory_there(ahead->base + piece.first, bytes) >= bytes;
}

int pleat_memory_ahead_over(struct pleat_memory_ahead *ahead, unsigned char *base,
                            struct pleat_span pages, struct pleat_error *err)
{
    *ahead = (struct pleat_memory_ahead){.base = base, .pages = pages};
    ahead->left = piece_count(ahead);
    ahead->provided = calloc(ahead->left ? ahead->left : 1, 1);
    return ahead->provided ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "no memory to map data ahead");
}

int pleat_memory_ahead_begin(struct pleat_memory_ahead *ahead, struct pleat_memory *memory,
                             struct pleat_span block, struct pleat_error *err)
{
    struct pleat_span pages;
    *ahead = (struct pleat_memory_ahead){0};
    int code = pleat_memory_prepare_unprovided(memory, block, &pages, err);
    if (code)
        return code;
    code = pleat_memory_ahead_over(ahead, memory->base, pages, err);
    if (code)
        pleat_memory_unprepare(memory, block);
    return code;
}

enum pleat_foreseen pleat_memory_ahead_go_on(struct pleat_memory_ahead *ahead)
{
    const size_t count = piece_count(ahead);
    int done = 0;
    for (size_t looked = 0; looked < count && ahead->left && done < AT_ONCE; looked++) {
        size_t piece = ahead->next;
        ahead->next = piece + 1 < count ? piece + 1 : 0;
        struct pleat_span span = piece_of(ahead, piece);
        if (ahead->provided[piece] || !is_there(ahead, span) || !provide(ahead, span))
            continue;
        ahead->provided[piece] = true;
        ahead->left--;
        done++;
    }
    return !ahead->left ? PLEAT_FORESEEN_ALL : done ? PLEAT_FORESEEN_MORE : PLEAT_FORESEEN_NOTHING;
}

int pleat_memory_ahead_end(struct pleat_memory_ahead *ahead, struct pleat_error *err)
{
    int code = 0;
    for (size_t piece = 0; !code && ahead->left && piece < piece_count(ahead); piece++)
        if (!ahead->provided[piece] && !provide(ahead, piece_of(ahead, piece)))
            code = pleat_error_set(err, PLEAT_E_NOMEM, "no memory for %zu bytes of rows (errno %d)",
                                   ahead->pages.end - ahead->pages.first, errno);
    free(ahead->provided);
    *ahead = (struct pleat_memory_ahead){0};
    return code;
}

void pleat_memory_ahead_drop(struct pleat_memory_ahead *ahead)
{
    free(ahead->provided);
    *ahead = (struct pleat_memory_ahead){0};
}

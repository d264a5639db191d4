/* memory.h - address space for a whole distributed array, but memory only for the local part.
 *
 * In a rank, a global row has the same address for as long as the array lives. So a resize moves
 * only rows that change their rank, straight to their final place, and never needs old and new
 * copies at once.
 *
 * The memory is private, or it is that of a file which all ranks map. Then the pages that lie
 * wholly inside a rank's own block are the file's, and a resize moves nothing: it is another
 * mapping. Pages that the block shares with a neighbour, and the halo, are private.
 */
#ifndef PLEAT_APP_MEMORY_H
#define PLEAT_APP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Bytes first to end - 1 from the base. */
struct pleat_span {
    size_t first;
    size_t end;
};

struct pleat_memory {
    unsigned char *base;
    size_t bytes;
    struct pleat_span open; /* the usable part, whole pages */
    /* for memory of a file */
    int fd;                   /* borrowed; -1: private memory */
    int64_t origin;           /* the base's offset in the file, may be negative; whole pages */
    struct pleat_span shared; /* the part of `open` that is the file's, whole pages */
    bool prepared;            /* between pleat_memory_prepare and its end */
};

/* Reserves `bytes` of address space, none of it usable, for private memory. PLEAT_E_NOMEM. */
int pleat_memory_reserve(struct pleat_memory *memory, size_t bytes,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_memory_release(struct pleat_memory *memory);
/* Has the kernel provide the pages of [first, end), which must be usable, at once: that is cheaper
 * than a page fault for each as rows arrive. Kernels before 5.14 ignore it. */
void pleat_memory_populate(const struct pleat_memory *memory, size_t first, size_t end);
size_t pleat_page_bytes(void);

/* From now on writes to these whole pages, which are mapped from offset `offset` of a file on, do
 * not reach the file. Does not touch the pages, so it takes the same time for any number of them.
 * PLEAT_E_NOMEM: they are not usable any more. */
int pleat_memory_cut_off(void *at, size_t bytes, int fd, int64_t offset) PLEAT_MUST_CHECK;

/* Whether the kernel gives no more memory than there is (vm.overcommit_memory is 2). Then a page of
 * a file of which there is no memory raises SIGBUS when it is touched. */
bool pleat_memory_is_strict(void);

/* ---- private memory ---- */

/* Makes bytes [first, end) usable, too, with the gap to what is usable already. New pages read as
 * zero. PLEAT_E_NOMEM: nothing changed. */
int pleat_memory_open(struct pleat_memory *memory, size_t first, size_t end,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Gives back all usable pages that lie wholly outside [first, end). */
void pleat_memory_keep(struct pleat_memory *memory, size_t first, size_t end);

/* ---- memory of a file ---- */

/* From now on the memory is that of the file. Its contents so far are lost at the next move. The
 * file must be large enough, and nobody may shorten it. */
void pleat_memory_share(struct pleat_memory *memory, int fd, int64_t origin);
/* Maps those whole pages of `block` that are not usable yet, and has the kernel provide them:
 * pleat_memory_move to that block then needs no more memory than a few pages. PLEAT_E_NOMEM:
 * nothing changed. */
int pleat_memory_prepare(struct pleat_memory *memory, struct pleat_span block,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* As pleat_memory_prepare, of memory of which nothing is usable, but has nothing provided. *pages:
 * what is mapped. */
int pleat_memory_prepare_unprovided(struct pleat_memory *memory, struct pleat_span block,
                                    struct pleat_span *pages,
                                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* Takes back pleat_memory_prepare with that block. Without one it does nothing. */
void pleat_memory_unprepare(struct pleat_memory *memory, struct pleat_span block);
/* Makes `open` usable, which contains `block`, and nothing else; both may be empty. The whole pages
 * of `block` are the file's. The others are private, and zero. After PLEAT_E_NOMEM the memory is
 * unusable. */
int pleat_memory_move(struct pleat_memory *memory, struct pleat_span block, struct pleat_span open,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- memory-ahead.c: prepares a block while others still fill the file ---- */

/* How many of these bytes, whole mapped pages, are in memory. */
size_t pleat_memory_there(unsigned char *at, size_t bytes);

enum pleat_foreseen {
    PLEAT_FORESEEN_ALL,     /* nothing is left to be done, or nothing can be */
    PLEAT_FORESEEN_MORE,    /* something was done, and more may be possible at once */
    PLEAT_FORESEEN_NOTHING, /* the pages that are left are not there yet */
};

/* Zeroed: not begun. */
struct pleat_memory_ahead {
    unsigned char *base;
    struct pleat_span pages;
    bool *provided; /* of each piece; NULL: not begun */
    size_t left;    /* pieces that are not provided */
    size_t next;    /* piece to look at */
};

/* Maps the whole pages of `block` in memory of which nothing is usable. PLEAT_E_NOMEM: nothing
 * changed. */
int pleat_memory_ahead_begin(struct pleat_memory_ahead *ahead, struct pleat_memory *memory,
                             struct pleat_span block, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same for bytes [first, end) from `base`, which are mapped already, whole pages of a file. */
int pleat_memory_ahead_over(struct pleat_memory_ahead *ahead, unsigned char *base,
                            struct pleat_span pages, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Has the kernel provide some of those pages that are in the file; takes some milliseconds. */
enum pleat_foreseen pleat_memory_ahead_go_on(struct pleat_memory_ahead *ahead);
/* Has the kernel provide the rest: then the memory is as after pleat_memory_prepare.
 * PLEAT_E_NOMEM. */
int pleat_memory_ahead_end(struct pleat_memory_ahead *ahead,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Forgets it, whether it was begun or not; the memory stays as it is. */
void pleat_memory_ahead_drop(struct pleat_memory_ahead *ahead);

/* From now on writes do not reach the file. If memory is short, the file's part is not usable any
 * more. */
void pleat_memory_detach(struct pleat_memory *memory);

#endif

/* home.h - the memory of items whose arrays are the library's: particles.c and csr.c. There are up
 * to PLEAT_HOME_COLUMNS arrays, the columns, of which each rank has a part of its own length.
 *
 * In the data file (shm/state.h) a set of items has a window with two halves. A half has an area
 * for each rank, and in it one for each column; the file is sparse, so only what is in use takes
 * memory. So nothing has to be saved for a resize but a mark, which says which half has the items,
 * and how many each rank has. At a resize, or when they are loaded, the ranks bring their new parts
 * into the other half, and when all have them the mark changes. At any time one half has all items,
 * whoever dies.
 *
 * Without a data file, and where the ranks are on several nodes, columns are private memory.
 */
#ifndef PLEAT_APP_HOME_H
#define PLEAT_APP_HOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/memory.h"
#include "base/error.h"

#define PLEAT_HOME_COLUMNS 9

struct pleat_session;
struct pleat_change;
struct pleat_stretches;

struct pleat_home_place {
    int fd; /* the data file, borrowed; -1: private memory */
    unsigned half;
    int ranks, rank;
};

struct pleat_home_column {
    unsigned char *at;
    size_t bytes;  /* in use */
    size_t mapped; /* in the data file: what is mapped */
};

/* Where a rank's columns are. */
struct pleat_home_part {
    struct pleat_home_place place;
    struct pleat_home_column column[PLEAT_HOME_COLUMNS];
};

/* What the mark says: which half has the items, and how many each rank has. */
struct pleat_home_mark {
    unsigned half;
    int ranks;
    int64_t *counts; /* the caller's to free */
};

/* A part of a column of another rank that is mapped, to be read. */
struct pleat_home_source {
    int rank, column;
    struct pleat_span span; /* of the column's bytes, whole pages */
    unsigned char *at;
    struct pleat_memory_ahead ahead;
};

/* What was done before the items were left (home-ahead.h). Zeroed: nothing. */
struct pleat_home_ahead {
    struct pleat_home_place from; /* of rank 0, where the items are; ranks 0: not known */
    uint64_t all;                 /* bytes of the items of all ranks, when it was looked last */
    size_t wanted[PLEAT_HOME_COLUMNS];   /* of them, of this rank */
    bool takes;                          /* the part that comes has memory */
    bool failed;                         /* there was too little: no more is tried */
    size_t provided[PLEAT_HOME_COLUMNS]; /* bytes of that memory which are there */
    struct pleat_home_source *sources;
    size_t source_count;
};

struct pleat_home {
    struct pleat_session *session;
    const char *name; /* of the items, for messages */
    uint64_t window;
    int columns;
    struct pleat_home_part now;
    struct pleat_home_part coming; /* where items come to during a move */
    /* between load and tidy: where the items were (ranks 0: nowhere), and how many all ranks
     * have */
    struct pleat_home_place loaded;
    int64_t all;
    struct pleat_home_ahead ahead;
};

/* Fills in all but the name. The columns are empty. PLEAT_E_TOOBIG. */
int pleat_home_init(struct pleat_home *home, struct pleat_session *session, int columns,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_home_finish(struct pleat_home *home);

/* Gives a column of the present part `bytes` bytes. Old contents stay, new bytes have any contents,
 * and the address may change. False: there is no memory, and nothing has changed. */
bool pleat_home_resize(struct pleat_home *home, int column, size_t bytes) PLEAT_MUST_CHECK;
/* Replaces all columns of the present part by columns of bytes[i] bytes, which are zero. False:
 * there is no memory, and nothing has changed. */
bool pleat_home_renew(struct pleat_home *home,
                      const size_t bytes[PLEAT_HOME_COLUMNS]) PLEAT_MUST_CHECK;

/* Items will come to that place, as rank `rank` of `ranks`. fd: the data file, or -1. */
void pleat_home_expect(struct pleat_home *home, int fd, int ranks, int rank);
/* Makes room for the items that come; in the data file this is address space only. False: there is
 * none. */
bool pleat_home_open(struct pleat_home *home,
                     const size_t bytes[PLEAT_HOME_COLUMNS]) PLEAT_MUST_CHECK;
/* Takes the memory for that room, before any item comes; in the data file it is zero. False: there
 * is none. */
bool pleat_home_fill(struct pleat_home *home) PLEAT_MUST_CHECK;
/* Frees the memory of the place where items will come to, of which nothing is mapped yet. */
void pleat_home_free_coming(const struct pleat_home *home);
/* Ends a move. taken: this rank has the items that came from now on; otherwise they are dropped. */
void pleat_home_close(struct pleat_home *home, bool taken);

/* After a move, in a rank that has no items any more: memory that it still sees becomes private. */
void pleat_home_leave(struct pleat_home *home);
/* From now on this rank does not change the data file. */
void pleat_home_detach(struct pleat_home *home);
/* Has this rank's area in the data file freed, where the items were (freeing.h). */
void pleat_home_free_area(const struct pleat_home *home, const struct pleat_home_place *place);

/* PLEAT_E_NOMEM where less memory is available than all ranks need for items that come. */
int pleat_home_check_room(const struct pleat_home *home, uint64_t bytes,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- the mark ---- */

/* Says in the window that the items are in that half. One rank only. PLEAT_E_NOMEM, PLEAT_E_TOOBIG.
 */
int pleat_home_write_mark(const struct pleat_home *home, int fd, const struct pleat_home_mark *mark,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* PLEAT_E_CORRUPT, PLEAT_E_NOMEM. */
int pleat_home_read_mark(const struct pleat_home *home, int fd, struct pleat_home_mark *mark,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* For who looks while others may write: false where it is not certain which mark counts, so that
 * where the items are is not known now. What an older mark says must not be believed then: where it
 * has none the newer one has them. */
bool pleat_home_peek_mark(const struct pleat_home *home, int fd,
                          struct pleat_home_mark *mark) PLEAT_MUST_CHECK;
/* Lists the bytes of a state where the mark that counts may be, which a node needs to read it.
 * PLEAT_E_NOMEM. */
int pleat_home_list_marks(const struct pleat_home *home,
                          struct pleat_stretches *list) PLEAT_MUST_CHECK;

/* ---- what other ranks have ---- */

/* Some of the items of a rank, in their order. */
struct pleat_home_piece {
    struct pleat_home_place from;
    int64_t first, count;
};

/* What a kind of items does with its columns; `arg` is that of its struct pleat_items_ops. */
struct pleat_home_ops {
    /* Opens room for these items, takes it, and copies them, in this order. close follows.
     * PLEAT_E_NOMEM, PLEAT_E_CORRUPT. */
    int (*adopt)(const struct pleat_home_piece *pieces, size_t count, void *arg,
                 struct pleat_error *err);
    /* Lists what adopt will read, in two steps: for the second step, what the first one listed is
     * there. PLEAT_E_NOMEM, PLEAT_E_CORRUPT. */
    int (*needs)(const struct pleat_home_piece *pieces, size_t count, int step, void *arg,
                 struct pleat_stretches *list, struct pleat_error *err);
    /* This rank has no items any more. */
    void (*leave)(void *arg);
};

/* Bytes of a column of another rank, mapped to be read. */
struct pleat_home_view {
    const unsigned char *at; /* NULL: nothing is mapped */
    void *pages;
    size_t mapped;
};

/* PLEAT_E_NOMEM, PLEAT_E_CORRUPT. */
int pleat_home_view(const struct pleat_home *home, const struct pleat_home_place *place, int column,
                    uint64_t first, uint64_t bytes, struct pleat_home_view *view,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_home_view_end(const struct pleat_home *home, struct pleat_home_view *view);
/* Most bytes of a column of one of so many ranks. */
uint64_t pleat_home_room(const struct pleat_home *home, int ranks);
/* The offset of such bytes in a state. */
uint64_t pleat_home_offset(const struct pleat_home *home, const struct pleat_home_place *place,
                           int column);

#endif

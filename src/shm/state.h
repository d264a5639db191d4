/* state.h - the state of a malleable application, held in memory by pleat-agent, so that it can be
 * ended and started again at another size.
 *
 * Two slots (memfds of the agent), written in turn: what is being saved never touches what was
 * saved before, so a rank that dies while it saves costs nothing. The one with the highest
 * generation whose header says that it is complete is the state. Ranks open them through
 * /proc/AGENT/fd/N (environment variable PLEAT_STATE: both paths, separated by a colon).
 *
 * The layout knows nothing of how many ranks there are: values first, then each object (rows) as
 * one array in the order of its global index. So whoever saves writes its part where it belongs,
 * whoever loads reads the part that it needs, at any size: on one node that is the whole
 * redistribution.
 *
 * Access is by pread and pwrite, or through a mapping of pages that are known to be there; a rank
 * never makes a slot shorter than another may be writing: memory that cannot be had is an error,
 * not a signal. The application can write there, so everything read is checked. Functions return 0
 * or a negative code; they block for copying only.
 */
#ifndef PLEAT_SHM_STATE_H
#define PLEAT_SHM_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PLEAT_STATE_ENV "PLEAT_STATE"
/* Which `pleat launch` of the run starts this program, from 1; not set: the run is the program. */
#define PLEAT_LAUNCH_ENV "PLEAT_LAUNCH"
#define PLEAT_STATE_PATHS_SIZE 96 /* room for the value of PLEAT_STATE */
/* Where the state begins in a slot: behind its header, on a page of its own. */
#define PLEAT_STATE_OFFSET 4096
#define PLEAT_STATE_BYTES_MAX ((uint64_t)1 << 60)

#define PLEAT_STATE_NAME 40

/* What a slot says about itself. A state belongs to one program of one run: `launch` and `program`
 * say to which. */
struct pleat_state_header {
    uint64_t magic;
    uint64_t generation;         /* of the state saved, from 1; 0: none */
    uint64_t complete;           /* = generation once all of it is there */
    uint64_t shape;              /* hash of what is registered: names, sizes, order */
    uint64_t iteration;          /* adaptation points reached */
    uint64_t bytes;              /* behind the header */
    uint64_t launch;             /* the value of PLEAT_LAUNCH, 0: none */
    uint64_t program;            /* hash of its file, its arguments and its MPI */
    char name[PLEAT_STATE_NAME]; /* of its file, cut, for people; ends with NUL */
    uint64_t checksum;           /* of the members above but `complete` */
};

/* ---- the agent's side ---- */

struct pleat_state_store {
    int fd[2];
};

/* Two empty slots, memfds, close-on-exec. PLEAT_E_SYSTEM. */
int pleat_state_store_init(struct pleat_state_store *store,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Frees the memory. Accepts one that was zeroed with fd -1, -1. */
void pleat_state_store_finish(struct pleat_state_store *store);
/* The value of PLEAT_STATE for processes of this user, valid as long as this process lives. */
void pleat_state_store_paths(const struct pleat_state_store *store,
                             char paths[PLEAT_STATE_PATHS_SIZE]);
/* The state that is held: fills *header. PLEAT_E_NOTFOUND: none. */
int pleat_state_store_held(const struct pleat_state_store *store,
                           struct pleat_state_header *header) PLEAT_MUST_CHECK;
/* Bytes of memory that both slots take. */
uint64_t pleat_state_store_bytes(const struct pleat_state_store *store);
/* Forgets what is held, and frees its memory. */
void pleat_state_store_drop(struct pleat_state_store *store);

/* ---- a rank's side (libpleat) ---- */

struct pleat_state; /* both slots, opened */

int pleat_state_open(const char *paths, struct pleat_state **state,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts NULL. */
void pleat_state_close(struct pleat_state *state);

/* Rank 0, before anybody writes: takes the slot that is not the state, and writes its header (not
 * complete). Of `wanted` shape, iteration, bytes, launch, program and name count. *generation:
 * which the others join. The state held so far stays. PLEAT_E_NOMEM: the machine has less memory
 * available than that, or a limit on the size of files (ulimit -f) is in the way. */
int pleat_state_begin(struct pleat_state *state, const struct pleat_state_header *wanted,
                      uint64_t *generation, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The other ranks: the slot of that generation. PLEAT_E_CORRUPT: there is none; PLEAT_E_NOMEM: as
 * above. */
int pleat_state_join(struct pleat_state *state, uint64_t generation,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* `offset` counts from behind the header. PLEAT_E_NOMEM; PLEAT_E_SYSTEM; PLEAT_E_STATE: beyond what
 * was begun with, or nothing was begun. */
int pleat_state_write(struct pleat_state *state, uint64_t offset, const void *data, size_t bytes,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Rank 0, once all ranks have written: from now on this is the state. The memory of the one before
 * is freed, unless eight times as much is available: then the next save uses it again.
 * PLEAT_E_STATE: nothing was begun. */
int pleat_state_commit(struct pleat_state *state, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Every rank, instead of commit: what was begun is given up; rank 0 frees its memory. */
void pleat_state_abandon(struct pleat_state *state);

/* The state to go on from; the slot is chosen for reading. PLEAT_E_NOTFOUND: none. */
int pleat_state_find(struct pleat_state *state, struct pleat_state_header *header,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether `held` is a state of the program that `own` says (launch, program, name).
 * PLEAT_E_INVALID: it is another one's, and must not be loaded. */
int pleat_state_check_owner(const struct pleat_state_header *held,
                            const struct pleat_state_header *own,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* PLEAT_E_CORRUPT: it ends before that; PLEAT_E_STATE: find has not found one. */
int pleat_state_read(struct pleat_state *state, uint64_t offset, void *data, size_t bytes,
                     struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

/* state.h - the state of a malleable application, in memory of pleat-agent, from which the
 * application can be started again at another size.
 *
 * There are three files (memfds of the agent). Ranks open them through /proc/AGENT/fd/N
 * (environment variable PLEAT_STATE: the paths, separated by colons).
 *
 * The data file holds the registered arrays themselves: while the ranks compute, they map it. At an
 * adaptation point they write what is not in it yet (values, and parts of pages that two ranks
 * share), and then it is the state, without anything being copied. It stops being the state just
 * before the first rank computes again (pleat_state_go_on).
 *
 * The two slots hold copies, written in turn: a save never touches the copy saved before, so a rank
 * that dies while it saves does no harm. They are used if there is no data file, and for a state
 * that is to outlive computing.
 *
 * A run over several nodes has such files on each node. There a file holds only parts of the state,
 * each at its place in the whole; a table behind the state lists them. The header has the same
 * generation and the same number of the save on all nodes, so that parts of different saves are
 * never put together.
 *
 * The state is in the file with the highest generation whose header says that it is complete. The
 * layout is the same in all files, and does not depend on the number of ranks: each object (rows)
 * as one array in the order of its global index, then the values. So a rank writes its part where
 * it belongs, and reads or maps the part that it needs, at any size: on one node that is the whole
 * redistribution.
 *
 * Access is by pread and pwrite, or through a mapping of pages that are known to exist. A rank
 * never shortens a file that another one may be using. So a lack of memory is an error and not a
 * signal. The application can write to the files, so everything read is checked. Functions return 0
 * or a negative code; they block only while they copy.
 */
#ifndef PLEAT_SHM_STATE_H
#define PLEAT_SHM_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PLEAT_STATE_ENV "PLEAT_STATE"
/* environment variable: number of the `pleat launch` in the run that starts this program, from 1;
 * not set: the run is the program */
#define PLEAT_LAUNCH_ENV "PLEAT_LAUNCH"
#define PLEAT_STATE_PATHS_SIZE 96 /* size of a buffer for the value of PLEAT_STATE */
/* Offset of the state in a file: behind the header, on a page of its own. */
#define PLEAT_STATE_OFFSET 4096
#define PLEAT_STATE_BYTES_MAX ((uint64_t)1 << 60)

/* Windows in the data file, behind everything else: of two halves each, with a page in front. An
 * offset counts from behind the header, as in a state. The file is sparse, so unused ones cost
 * nothing. */
#define PLEAT_STATE_WINDOW_FIRST ((uint64_t)1 << 56)
#define PLEAT_STATE_WINDOW ((uint64_t)1 << 46)
#define PLEAT_STATE_WINDOW_HALF ((uint64_t)1 << 44)
#define PLEAT_STATE_WINDOWS 8192

#define PLEAT_STATE_NAME 40

/* The header of a file. A state belongs to one program of one run, which `launch` and `program`
 * identify. */
struct pleat_state_header {
    uint64_t magic;
    uint64_t generation;         /* number of the save, from 1; 0: none */
    uint64_t complete;           /* equal to generation once the whole state is written */
    uint64_t shape;              /* hash of what is registered: names, sizes, order */
    uint64_t iteration;          /* adaptation points passed */
    uint64_t bytes;              /* size of the state without the header */
    uint64_t launch;             /* the value of PLEAT_LAUNCH; 0: not set */
    uint64_t program;            /* hash of the program's file, its arguments and its MPI */
    char name[PLEAT_STATE_NAME]; /* name of the program's file, shortened, for people; ends with
                                  * NUL */
    /* about a state that is on several nodes, in a file on each: */
    uint64_t nodes;     /* number of nodes; 1: all of the state is in this file */
    uint64_t parts;     /* number of parts in the table behind the state; 0 where nodes is 1 */
    uint64_t parts_sum; /* checksum of the table */
    uint64_t save;      /* a number of this save that no other has, the same on all nodes */
    uint64_t checksum;  /* checksum of the members above, but not of `complete` */
};

/* A part of a state: bytes first to end - 1. */
struct pleat_state_part {
    uint64_t first, end;
};

#define PLEAT_STATE_PARTS_MAX ((uint64_t)1 << 24)

/* ---- the agent's side ---- */

#define PLEAT_STATE_FILES 3
#define PLEAT_STATE_DATA 2 /* index of the data file; the others are the slots */

struct pleat_state_store {
    int fd[PLEAT_STATE_FILES];
};

/* Makes the empty files, memfds, close-on-exec. Where this process may not make large files
 * (ulimit -f) there is no data file. PLEAT_E_SYSTEM. */
int pleat_state_store_init(struct pleat_state_store *store,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Frees the slots, and the data file once no rank maps it any more. Accepts a store whose fds are
 * -1. */
void pleat_state_store_finish(struct pleat_state_store *store);
/* The value of PLEAT_STATE for processes of this user, valid as long as this process lives. */
void pleat_state_store_paths(const struct pleat_state_store *store,
                             char paths[PLEAT_STATE_PATHS_SIZE]);
/* Fills *header with the state's header. PLEAT_E_NOTFOUND: there is no state. */
int pleat_state_store_held(const struct pleat_state_store *store,
                           struct pleat_state_header *header) PLEAT_MUST_CHECK;

/* ---- a rank's side (libpleat) ---- */

struct pleat_state; /* the files, opened */

int pleat_state_open(const char *paths, struct pleat_state **state,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts NULL. */
void pleat_state_close(struct pleat_state *state);

/* ---- the data file ---- */

/* The descriptor of the data file, borrowed; -1: there is none. */
int pleat_state_data(const struct pleat_state *state);
/* Rank 0, before any rank maps the data file: takes it for this program, until pleat_state_close.
 * keep: the program goes on from the state in it; otherwise it is emptied. PLEAT_E_NOTFOUND: there
 * is none; PLEAT_E_BUSY: another program of this run is using it; PLEAT_E_NOMEM: files are limited
 * to less than its header (ulimit -f). */
int pleat_state_take_data(struct pleat_state *state, bool keep,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Rank 0, when no rank writes to the data file any more: another program may take it. */
void pleat_state_release_data(struct pleat_state *state);
/* Whether the state that was found, or is being saved, is that in the data file. */
bool pleat_state_is_data(const struct pleat_state *state);
/* Reads a part that the ranks wrote into the data file before it became the state. PLEAT_E_CORRUPT:
 * the file ends before. */
int pleat_state_read_data(int fd, uint64_t offset, void *data, size_t bytes,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* How many bytes of a part have no memory in the data file yet; counts on to `most` at least. */
uint64_t pleat_state_data_missing(int fd, uint64_t offset, uint64_t bytes, uint64_t most);
/* How many of the bytes from `offset` on have memory there, up to the first that has none; at most
 * `most`. */
uint64_t pleat_state_data_filled(int fd, uint64_t offset, uint64_t most);
/* Writes into the data file, whatever the limit on the size of files. PLEAT_E_NOMEM. */
int pleat_state_put(int fd, uint64_t offset, const void *data, size_t bytes,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* Rank 0, before any rank writes to what it has mapped: from now on the data file is no state. */
int pleat_state_go_on(struct pleat_state *state, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- saving ---- */

/* Rank 0, or the first rank of each node, before anybody writes: chooses the data file (in_data) or
 * the slot without the state, and writes its header, not complete. It uses shape, iteration, bytes,
 * launch, program, name, nodes (0 counts as 1) and save of *wanted; the new generation is at least
 * that of *wanted. *generation: the number that the others join. Copies held so far stay.
 * PLEAT_E_NOMEM: less memory is available, or a limit on the size of files (ulimit -f) is too
 * low. */
int pleat_state_begin(struct pleat_state *state, const struct pleat_state_header *wanted,
                      bool in_data, uint64_t *generation, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The other ranks: choose the file of that generation. PLEAT_E_CORRUPT: there is none;
 * PLEAT_E_NOMEM. */
int pleat_state_join(struct pleat_state *state, uint64_t generation,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Writes a part. offset: from behind the header. PLEAT_E_NOMEM; PLEAT_E_SYSTEM; PLEAT_E_STATE: the
 * part is beyond the size given to pleat_state_begin, or nothing was begun. */
int pleat_state_write(struct pleat_state *state, uint64_t offset, const void *data, size_t bytes,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Maps a part of the copy that is being saved (writing) or was found, whose pages are all there.
 * offset: of a whole page. The caller unmaps it. PLEAT_E_NOMEM, PLEAT_E_STATE. */
int pleat_state_map(struct pleat_state *state, uint64_t offset, size_t bytes, bool writing,
                    void **at, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The highest generation in the files, complete or not; 0: none. */
uint64_t pleat_state_latest(const struct pleat_state *state);
/* The rank that began the save, once all have written: sets which parts of the state are in this
 * file. PLEAT_E_NOMEM, PLEAT_E_TOOBIG, PLEAT_E_STATE. */
int pleat_state_set_parts(struct pleat_state *state, const struct pleat_state_part *parts,
                          size_t count, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Rank 0, once all ranks have written: makes what was written the state. The memory of the copy
 * before is freed, unless eight times the state's size is available: then the next save uses it
 * again. PLEAT_E_STATE: nothing was begun. */
int pleat_state_commit(struct pleat_state *state, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same in two steps, for a state on several nodes. The first rank of each node marks its file,
 * rank 0 last: a state is only there if it is in rank 0's file. Then each settles its file, or
 * takes its mark back. */
int pleat_state_mark(struct pleat_state *state, struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_state_settle(struct pleat_state *state, bool taken_back);
/* Every rank, instead of commit or after it: ends the save. What was not committed is given up, and
 * rank 0 frees a copy's memory. */
void pleat_state_abandon(struct pleat_state *state);

/* ---- loading ---- */

/* Finds the state to go on from, and chooses its file for reading. PLEAT_E_NOTFOUND: there is none.
 */
int pleat_state_find(struct pleat_state *state, struct pleat_state_header *header,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Checks that `held` is a state of the program with header `own` (launch, program, name).
 * PLEAT_E_INVALID: it is another program's, and must not be loaded. */
int pleat_state_check_owner(const struct pleat_state_header *held,
                            const struct pleat_state_header *own,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reads a part. PLEAT_E_CORRUPT: the state ends before; PLEAT_E_STATE: no state was found before.
 */
int pleat_state_read(struct pleat_state *state, uint64_t offset, void *data, size_t bytes,
                     struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- parts of a state that are brought from other nodes, or there ---- */

/* Finds the file with the state of that generation, whole or a part. PLEAT_E_NOTFOUND. */
int pleat_state_find_generation(struct pleat_state *state, uint64_t generation,
                                struct pleat_state_header *header,
                                struct pleat_error *err) PLEAT_MUST_CHECK;
/* Finds the file with the state `wanted`, a header that another node has. PLEAT_E_NOTFOUND: this
 * node has no part of it. PLEAT_E_CORRUPT: it has another state of that number. */
int pleat_state_find_same(struct pleat_state *state, const struct pleat_state_header *wanted,
                          struct pleat_state_header *header,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* On a node that has no part of the state `wanted`: chooses a file for the parts that are brought,
 * the data file (in_data) or a slot. first: the first rank of this node, which calls it before the
 * others. PLEAT_E_NOTFOUND, PLEAT_E_NOMEM. */
int pleat_state_choose(struct pleat_state *state, const struct pleat_state_header *wanted,
                       bool in_data, bool first, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The table of a state that was found, `header.parts` of them; the caller's to free.
 * PLEAT_E_CORRUPT, PLEAT_E_NOMEM. */
int pleat_state_get_parts(const struct pleat_state *state, const struct pleat_state_header *header,
                          struct pleat_state_part **parts,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Read and write a part of the file that is being saved to, or was found or chosen, also in windows
 * of the data file. */
int pleat_state_take(const struct pleat_state *state, uint64_t offset, void *data, size_t bytes,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_state_fill(const struct pleat_state *state, uint64_t offset, const void *data,
                     size_t bytes, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Frees the memory of whole pages in a part of the data file that nobody maps. */
void pleat_state_free_part(const struct pleat_state *state, uint64_t first, uint64_t end);

/* ---- a file of other origin ---- */

/* Makes a state of another file (a checkpoint), which stays the caller's: pleat_state_close leaves
 * it open. writing: it is for pleat_state_write; otherwise for pleat_state_read. PLEAT_E_NOMEM. */
int pleat_state_of_file(int fd, bool writing, struct pleat_state **state,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* From now on byte 0 of the state is byte `base` of that file (modulo 2^64: a state may begin in
 * the middle), and the state has `bytes`. */
void pleat_state_set_file(struct pleat_state *state, uint64_t base, uint64_t bytes);

#endif

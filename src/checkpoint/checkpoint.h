/* checkpoint.h - a file with what a program has registered, from which the program can be started
 * again on another day, with another number of ranks and with the other MPI.
 *
 * The file has a head and the data. The head says what the file has, by name: each value, and each
 * array in the order of its global index, whatever the number of ranks was. So each rank writes its
 * part where it belongs, and reads the part that it needs. Data are in the machine's own order of
 * bytes; a file of a machine with the other order is refused.
 *
 * Data are checked in pieces of 1 MiB, the head by a checksum of its own. They protect against
 * damage, not against intent: a reader checks all that it uses.
 *
 * A file is written under another name, NAME.part, and gets its own when all of it is on the disk.
 * So an older file of this name is there, whole, until the new one is complete. A .part that a
 * killed writer left is written over by the next one. Files have the mode 0600.
 *
 * Functions return 0 or a negative code; they block while the file system does. Texts of functions
 * that get a descriptor or bytes begin as "damaged: ...": the caller puts the name before.
 */
#ifndef PLEAT_CHECKPOINT_CHECKPOINT_H
#define PLEAT_CHECKPOINT_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Environment variable of a program: the checkpoint that it goes on from. */
#define PLEAT_FROM_ENV "PLEAT_FROM"

#define PLEAT_CHECKPOINT_NAME 64
#define PLEAT_CHECKPOINT_KIND 16
#define PLEAT_CHECKPOINT_DIMENSIONS 8
/* The kind of objects whose size changes: sizes are not compared. */
#define PLEAT_CHECKPOINT_CHANGING "items"
#define PLEAT_CHECKPOINT_PIECE ((uint64_t)1 << 20)
#define PLEAT_CHECKPOINT_ENTRIES_MAX 4096u

/* One value or array. Texts end with NUL, and are filled up with zeros. This is its form in the
 * file, too. */
struct pleat_checkpoint_entry {
    char name[PLEAT_CHECKPOINT_NAME];
    char kind[PLEAT_CHECKPOINT_KIND];           /* "value", "rows", ... */
    int64_t shape[PLEAT_CHECKPOINT_DIMENSIONS]; /* elements in each dimension; unused: 0 */
    uint64_t dimensions;                        /* 1 to 8 */
    uint64_t element_bytes;
    uint64_t bytes;       /* the product of these, which may be 0 */
    uint64_t offset;      /* in the file */
    uint64_t first_piece; /* its pieces are consecutive, and the last one may be shorter */
};

/* Where the program was, and what it was. */
struct pleat_checkpoint_origin {
    uint64_t iteration; /* adaptation points passed */
    int64_t created_us; /* since 1970 */
    uint64_t launch;    /* which `pleat launch` of a script it was, from 1; 0: no script */
    uint32_t ranks;
    char program[PLEAT_CHECKPOINT_NAME]; /* name of its file, shortened */
    char mpi[PLEAT_CHECKPOINT_KIND];     /* "Open MPI", "MPICH" */
};

struct pleat_checkpoint {
    struct pleat_checkpoint_origin origin;
    uint32_t count;
    struct pleat_checkpoint_entry *entries;
    uint64_t pieces;
    uint64_t *sums; /* of each piece */
    uint64_t head_bytes, file_bytes;
};

/* ---- the head (format.c) ---- */

/* Plans a file with copies of these entries, whose name, kind, shape, dimensions and element_bytes
 * are used. PLEAT_E_INVALID: a name twice, a shape that is none; PLEAT_E_TOOBIG; PLEAT_E_NOMEM. */
int pleat_checkpoint_plan(struct pleat_checkpoint *plan,
                          const struct pleat_checkpoint_entry *entries, uint32_t count,
                          const struct pleat_checkpoint_origin *origin,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Frees what plan or read have made. Accepts one that is all zeros. */
void pleat_checkpoint_finish(struct pleat_checkpoint *checkpoint);
/* Writes the head to `head`, which has room for head_bytes. */
void pleat_checkpoint_encode(const struct pleat_checkpoint *checkpoint, void *head);
/* The size of the head whose first PLEAT_CHECKPOINT_FIRST bytes these are, in a file of file_bytes.
 * PLEAT_E_CORRUPT: it is no checkpoint, or damaged; PLEAT_E_UNSUPPORTED: of a newer version, or of
 * another kind of machine. */
#define PLEAT_CHECKPOINT_FIRST 256
int pleat_checkpoint_measure(const void *first, uint64_t file_bytes, uint64_t *head_bytes,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reads and checks a whole head. As pleat_checkpoint_measure; PLEAT_E_NOMEM. */
int pleat_checkpoint_decode(const void *head, uint64_t head_bytes, uint64_t file_bytes,
                            struct pleat_checkpoint *checkpoint,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* The checksum that a head should have, for tests that damage what it protects. */
void pleat_checkpoint_seal(void *head, uint64_t head_bytes);
/* Checks that `found` has what `wanted` has, in any order. PLEAT_E_INVALID: the text says what
 * differs first. */
int pleat_checkpoint_compare(const struct pleat_checkpoint *found,
                             const struct pleat_checkpoint *wanted,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* The entry of that name; NULL: there is none. */
const struct pleat_checkpoint_entry *
pleat_checkpoint_find(const struct pleat_checkpoint *checkpoint, const char *name);
/* Number of pieces of an entry. */
uint64_t pleat_checkpoint_pieces(const struct pleat_checkpoint_entry *entry);

/* ---- reading (read.c) ---- */

/* Opens the file and reads its head. *fd: to be closed. PLEAT_E_NOTFOUND: there is no such file; as
 * pleat_checkpoint_decode; PLEAT_E_SYSTEM. */
int pleat_checkpoint_open(const char *path, struct pleat_checkpoint *checkpoint, int *fd,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reads `bytes` at `offset` of the file. PLEAT_E_CORRUPT: it ends before. */
int pleat_checkpoint_read(int fd, uint64_t offset, void *data, size_t bytes,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Computes the sums of `count` pieces from `first` on. */
int pleat_checkpoint_sum(int fd, const struct pleat_checkpoint *checkpoint, uint64_t first,
                         uint64_t count, uint64_t *sums, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Compares the sums of that share of the pieces which is the `part`th of `parts`. PLEAT_E_CORRUPT:
 * the text names the first bytes that are damaged. */
int pleat_checkpoint_verify(int fd, const struct pleat_checkpoint *checkpoint, uint32_t part,
                            uint32_t parts, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The pieces of such a share. */
void pleat_checkpoint_share(const struct pleat_checkpoint *checkpoint, uint32_t part,
                            uint32_t parts, uint64_t *first, uint64_t *count);

/* ---- writing (write.c) ---- */

/* A file that is being written. */
struct pleat_checkpoint_writer {
    int fd;
    char *path; /* the name that it will have */
    char *part; /* the name that it has */
    uint64_t device, inode;
};

/* Rank 0: makes PATH.part, with room for file_bytes. PLEAT_E_BUSY: somebody else is writing it;
 * PLEAT_E_TOOBIG: no room on the disk, or a limit; PLEAT_E_PERMISSION; PLEAT_E_INVALID: the path is
 * a directory; PLEAT_E_SYSTEM. */
int pleat_checkpoint_create(const char *path, uint64_t file_bytes,
                            struct pleat_checkpoint_writer *writer,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* The other ranks: open the file that rank 0 has made. PLEAT_E_CORRUPT: it is another one. */
int pleat_checkpoint_join(const char *path, uint64_t device, uint64_t inode,
                          struct pleat_checkpoint_writer *writer,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same on several nodes, where the number of a device is each node's own. Rank 0 signs the file
 * with a number that no other file has, at its beginning, where the head will be; the others look
 * for it. PLEAT_E_CORRUPT, PLEAT_E_SYSTEM: the directory is not the same on their node. */
int pleat_checkpoint_sign(const struct pleat_checkpoint_writer *writer, uint64_t number,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_checkpoint_join_signed(const char *path, uint64_t number,
                                 struct pleat_checkpoint_writer *writer,
                                 struct pleat_error *err) PLEAT_MUST_CHECK;
/* On several nodes. give: each rank, when it has written, makes its data visible to the others.
 * forget: when all have done that, each rank drops what it has cached, so that it reads what the
 * others wrote. */
int pleat_checkpoint_give(const struct pleat_checkpoint_writer *writer,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_checkpoint_forget(const struct pleat_checkpoint_writer *writer);
int pleat_checkpoint_write(int fd, uint64_t offset, const void *data, size_t bytes,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Rank 0, once all data and all sums are there: writes the head, and waits for the disk. */
int pleat_checkpoint_flush(struct pleat_checkpoint_writer *writer,
                           const struct pleat_checkpoint *checkpoint,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Rank 0: whether the new file will replace an existing one. */
bool pleat_checkpoint_replaces(const struct pleat_checkpoint_writer *writer);
/* Rank 0, after flush: reads the head again. */
int pleat_checkpoint_reread(const struct pleat_checkpoint_writer *writer,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Rank 0, after flush: gives the file its name. After an error the name has what it had before,
 * whole, or the new one, whole. */
int pleat_checkpoint_name(struct pleat_checkpoint_writer *writer,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Closes the file. keep: as it has its name, or for another rank; otherwise it is removed. Accepts
 * one that was not made (fd -1, path NULL). */
void pleat_checkpoint_close(struct pleat_checkpoint_writer *writer, bool keep);

#endif

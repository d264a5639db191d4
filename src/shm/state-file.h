/* state-file.h - one file of the memory for a state (state.h): its header, its memory, writing to
 * it. For the files state*.c only. Functions return 0 or a negative code where nothing else is
 * said.
 */
#ifndef PLEAT_SHM_STATE_FILE_H
#define PLEAT_SHM_STATE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/state.h"

#define PLEAT_STATE_MAGIC UINT64_C(0x347473746165706c) /* "lpeatst4" */
#define PLEAT_STATE_GENERATION_MAX (UINT64_MAX / 2)

/* The files, opened by a rank. */
struct pleat_state {
    int fd[PLEAT_STATE_FILES]; /* -1: there is no data file */
    int file;                  /* index of the file being written or read; -1: none */
    bool writing;
    bool first;    /* this rank began the save */
    bool filled;   /* the file has all its memory already, from an earlier state */
    bool borrowed; /* fd[0] belongs to the caller */
    uint64_t base; /* where the state begins in a file */
    uint64_t generation;
    uint64_t bytes;
};

uint64_t pleat_state_file_checksum(const struct pleat_state_header *header);
/* False: the file has no good header. */
bool pleat_state_file_header(int fd, struct pleat_state_header *header);
/* The index of the file that has the state; -1: none has. *latest: the highest generation in them,
 * complete or not. */
int pleat_state_file_find(const int fd[PLEAT_STATE_FILES], struct pleat_state_header *found,
                          uint64_t *latest);
/* The index of the file that has the state of that generation, complete; -1: none. */
int pleat_state_file_with(const int fd[PLEAT_STATE_FILES], uint64_t generation,
                          struct pleat_state_header *found);
/* The checksum of a table of `count` parts. */
uint64_t pleat_state_file_parts_sum(const struct pleat_state_part *parts, size_t count);
/* The index of the slot without the last copy. */
int pleat_state_file_other(const int fd[PLEAT_STATE_FILES]);

/* The memory that a file takes. */
uint64_t pleat_state_file_memory(int fd);
/* Empties a slot that nobody uses. */
void pleat_state_file_empty(int fd);
/* Frees a file's memory, but keeps its size: a process that still writes through a mapping must not
 * get a signal. */
void pleat_state_file_free(int fd);
/* A file beyond the limit on the size of files would raise SIGXFSZ, also in memory. */
bool pleat_state_file_within_limit(uint64_t end);
/* PLEAT_E_NOMEM where the file with that index may not have a state of `bytes` bytes. */
int pleat_state_file_check_limit(int file, uint64_t bytes,
                                 struct pleat_error *err) PLEAT_MUST_CHECK;

/* Writes all bytes. PLEAT_E_NOMEM, PLEAT_E_SYSTEM. */
int pleat_state_file_write(int fd, uint64_t offset, const void *data, size_t bytes,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Writes through a mapping, all of whose pages are mapped (populate: an advice of madvise) before
 * anything is copied, so that a missing page is an error and not a signal. False: nothing was
 * written. */
bool pleat_state_file_write_mapped(int fd, uint64_t offset, const void *data, size_t bytes,
                                   int populate) PLEAT_MUST_CHECK;

/* Fill *err: PLEAT_E_NOMEM, PLEAT_E_CORRUPT. */
int pleat_state_file_no_room(struct pleat_error *err, uint64_t bytes, const char *why);
int pleat_state_file_too_short(struct pleat_error *err, uint64_t offset, size_t bytes);

#endif

/* freeing.h - gives back the memory that a resize leaves, while the program computes again.
 *
 * The kernel forgets pages one by one: for a matrix of 512 MB that takes longer than copying it. So
 * what is to be freed is noted while the program stands still, and a thread of the library frees it
 * afterwards. The thread makes system calls only, no call of MPI, and receives no signals.
 */
#ifndef PLEAT_APP_FREEING_H
#define PLEAT_APP_FREEING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLEAT_FREEING_PIECES 64

/* Address space that is unmapped, or bytes of a file that get a hole. */
struct pleat_free_piece {
    void *at; /* NULL: of the file */
    int fd;   /* borrowed */
    uint64_t first;
    uint64_t bytes;
};

/* Zeroed: nothing is to be freed. */
struct pleat_freeing {
    struct pleat_free_piece piece[PLEAT_FREEING_PIECES];
    size_t count;
    pthread_t thread;
    bool runs;
};

/* Notes a piece, which is not used from now on. It may be freed at once, for example when there is
 * no room to note it. */
void pleat_free_later(struct pleat_freeing *freeing, struct pleat_free_piece piece);
/* Begins to free the noted pieces. Does not wait, unless no thread can be started. */
void pleat_freeing_begin(struct pleat_freeing *freeing);
/* Waits until all noted pieces are free, which may take some time. */
void pleat_freeing_end(struct pleat_freeing *freeing);

#endif

#include "app/freeing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

/* Memory that cannot be freed stays, until its place is used again. */
static void free_piece(const struct pleat_free_piece *piece)
{
    if (piece->at)
        (void)munmap(piece->at, (size_t)piece->bytes);
    else
        (void)fallocate(piece->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)piece->first,
                        (off_t)piece->bytes);
}

static void *free_all(void *argument)
{
    const struct pleat_freeing *freeing = argument;
    for (size_t i = 0; i < freeing->count; i++)
        free_piece(&freeing->piece[i]);
    return NULL;
}

void pleat_free_later(struct pleat_freeing *freeing, struct pleat_free_piece piece)
{
    if (freeing->runs)
        pleat_freeing_end(freeing);
    if (!piece.bytes)
        return;
    if (freeing->count < PLEAT_FREEING_PIECES)
        freeing->piece[freeing->count++] = piece;
    else
        free_piece(&piece);
}

void pleat_freeing_begin(struct pleat_freeing *freeing)
{
    sigset_t all;
    sigset_t before;
    if (!freeing->count || freeing->runs)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the program's threads */
    freeing->runs = !pthread_create(&freeing->thread, NULL, free_all, freeing);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!freeing->runs)
        pleat_freeing_end(freeing);
}

void pleat_freeing_end(struct pleat_freeing *freeing)
{
    if (freeing->runs)
        pthread_join(freeing->thread, NULL);
    else
        free_all(freeing);
    freeing->runs = false;
    freeing->count = 0;
}

#include "app/home-source.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "app/session.h"

void pleat_home_drop_sources(struct pleat_home *home, bool later)
{
    struct pleat_home_ahead *ahead = &home->ahead;
    for (size_t i = 0; i < ahead->source_count; i++) {
        struct pleat_home_source *source = &ahead->sources[i];
        pleat_memory_ahead_drop(&source->ahead);
        const struct pleat_free_piece piece = {.at = source->at,
                                               .bytes = source->span.end - source->span.first};
        if (later)
            pleat_free_later(&home->session->freeing, piece);
        else
            (void)munmap(piece.at, (size_t)piece.bytes);
    }
    free(ahead->sources);
    ahead->sources = NULL;
    ahead->source_count = 0;
}

const struct pleat_home_source *pleat_home_find_source(const struct pleat_home *home, int rank,
                                                       int column, uint64_t first, uint64_t end)
{
    const struct pleat_home_ahead *ahead = &home->ahead;
    for (size_t i = 0; i < ahead->source_count; i++) {
        const struct pleat_home_source *source = &ahead->sources[i];
        if (source->rank == rank && source->column == column && source->span.first <= first &&
            end <= source->span.end)
            return source;
    }
    return NULL;
}

const unsigned char *pleat_home_foreseen(const struct pleat_home *home,
                                         const struct pleat_home_place *place, int column,
                                         uint64_t first, uint64_t bytes)
{
    const struct pleat_home_place *from = &home->ahead.from;
    if (from->ranks != place->ranks || from->half != place->half || from->fd != place->fd)
        return NULL;
    const struct pleat_home_source *source =
        pleat_home_find_source(home, place->rank, column, first, first + bytes);
    return source ? source->at + (first - source->span.first) : NULL;
}

void pleat_home_ahead_end(struct pleat_home *home)
{
    pleat_home_drop_sources(home, true);
    home->ahead = (struct pleat_home_ahead){0};
}

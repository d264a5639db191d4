/* home-source.h - parts of other ranks' columns (home.h) that were mapped ahead, to be read. */
#ifndef PLEAT_APP_HOME_SOURCE_H
#define PLEAT_APP_HOME_SOURCE_H

#include "app/home.h"

/* The one that has bytes [first, end) of a column; NULL: there is none. */
const struct pleat_home_source *pleat_home_find_source(const struct pleat_home *home, int rank,
                                                       int column, uint64_t first, uint64_t end);
/* Bytes of a column of another rank, if they are mapped already; NULL: they are not. */
const unsigned char *pleat_home_foreseen(const struct pleat_home *home,
                                         const struct pleat_home_place *place, int column,
                                         uint64_t first, uint64_t bytes);
/* Unmaps all; later: once the program computes again (freeing.h). */
void pleat_home_drop_sources(struct pleat_home *home, bool later);
/* The items are loaded, or will not be: nothing of what was done ahead is needed any more. */
void pleat_home_ahead_end(struct pleat_home *home);

#endif

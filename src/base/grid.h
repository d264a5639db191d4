/* grid.h - a process grid as a number and as text: 2 x 3 processes are "2x3" */
#ifndef PLEAT_BASE_GRID_H
#define PLEAT_BASE_GRID_H

#include <stdint.h>

enum { PLEAT_GRID_DIMS = 4, PLEAT_GRID_TEXT = 24, PLEAT_GRID_MOST = 65535 };

/* 16 bits for each of 1 to PLEAT_GRID_DIMS dimensions, the first one lowest; the bits of those that
 * there are not are 0. 0: there is no grid, or one of its numbers is below 1 or above
 * PLEAT_GRID_MOST. */
uint64_t pleat_grid_pack(int dims, const int *grid);
/* How many dimensions it has; grid[0] to grid[PLEAT_GRID_DIMS - 1] are set, to 1 beyond these. */
int pleat_grid_unpack(uint64_t packed, int grid[PLEAT_GRID_DIMS]);
/* "" of 0. Returns `text`. */
const char *pleat_grid_text(uint64_t packed, char text[PLEAT_GRID_TEXT]);
/* 0: this is no such text. */
uint64_t pleat_grid_parse(const char *text);

#endif

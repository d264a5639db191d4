#include "base/grid.h"

#include <stdio.h>
#include <stdlib.h>

uint64_t pleat_grid_pack(int dims, const int *grid)
{
    uint64_t packed = 0;
    if (dims < 1 || dims > PLEAT_GRID_DIMS)
        return 0;
    for (int d = 0; d < dims; d++) {
        if (grid[d] < 1 || grid[d] > PLEAT_GRID_MOST)
            return 0;
        packed |= (uint64_t)grid[d] << 16 * d;
    }
    return packed;
}

int pleat_grid_unpack(uint64_t packed, int grid[PLEAT_GRID_DIMS])
{
    int dims = 0;
    for (int d = 0; d < PLEAT_GRID_DIMS; d++) {
        int processes = (int)(packed >> 16 * d & PLEAT_GRID_MOST);
        if (processes > 0)
            dims = d + 1;
        grid[d] = processes > 0 ? processes : 1;
    }
    return dims;
}

const char *pleat_grid_text(uint64_t packed, char text[PLEAT_GRID_TEXT])
{
    int grid[PLEAT_GRID_DIMS], dims = pleat_grid_unpack(packed, grid), length = 0;
    text[0] = '\0';
    for (int d = 0; d < dims; d++)
        length += snprintf(text + length, (size_t)(PLEAT_GRID_TEXT - length), d ? "x%d" : "%d",
                           grid[d] & PLEAT_GRID_MOST);
    return text;
}

uint64_t pleat_grid_parse(const char *text)
{
    int grid[PLEAT_GRID_DIMS], dims = 0;
    while (text && dims < PLEAT_GRID_DIMS && *text >= '1' && *text <= '9') {
        char *end;
        long processes = strtol(text, &end, 10);
        grid[dims++] = processes <= PLEAT_GRID_MOST ? (int)processes : 0;
        if (!*end)
            return pleat_grid_pack(dims, grid);
        text = *end == 'x' ? end + 1 : NULL;
    }
    return 0;
}

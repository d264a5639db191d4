#include "dist/dim.h"

/* A block that is longer than the dimension is the dimension. */
static int64_t block_of(const struct pleat_dim *dim)
{
    if (dim->block <= dim->extent)
        return dim->block;
    return dim->extent > 0 ? dim->extent : 1;
}

/* The place of a process in the turn that begins with the one that has the first block. */
static int turn_of(const struct pleat_dim *dim, int coordinate)
{
    int turn = coordinate - dim->first;
    return turn < 0 ? turn + dim->processes : turn;
}

bool pleat_dim_is_cyclic(const struct pleat_dim *dim)
{
    return dim->format == PLEAT_DIM_BLOCK_CYCLIC && dim->processes > 1;
}

int64_t pleat_dim_cycle(const struct pleat_dim *dim)
{
    return block_of(dim) * dim->processes;
}

static int64_t cyclic_count(const struct pleat_dim *dim, int coordinate)
{
    int64_t block = block_of(dim);
    int64_t whole = dim->extent / block;
    int64_t turn = turn_of(dim, coordinate);
    int64_t count = whole / dim->processes * block;
    int64_t more = whole % dim->processes;
    if (turn < more)
        return count + block;
    return turn == more ? count + dim->extent % block : count;
}

struct pleat_interval pleat_dim_interval(const struct pleat_dim *dim, int coordinate)
{
    int64_t base;
    int64_t more;
    int64_t first;
    switch (dim->format) {
    case PLEAT_DIM_BLOCK:
        base = dim->extent / dim->processes;
        more = dim->extent % dim->processes;
        first = coordinate * base + (coordinate < more ? coordinate : more);
        return (struct pleat_interval){first, first + base + (coordinate < more)};
    case PLEAT_DIM_GENERAL_BLOCK:
        return (struct pleat_interval){dim->bounds[coordinate], dim->bounds[coordinate + 1]};
    case PLEAT_DIM_COLLAPSED:
    case PLEAT_DIM_BLOCK_CYCLIC:
        break;
    }
    return (struct pleat_interval){0, dim->extent};
}

int64_t pleat_dim_count(const struct pleat_dim *dim, int coordinate)
{
    if (pleat_dim_is_cyclic(dim))
        return cyclic_count(dim, coordinate);
    struct pleat_interval own = pleat_dim_interval(dim, coordinate);
    return own.end - own.first;
}

int64_t pleat_dim_count_max(const struct pleat_dim *dim)
{
    int64_t most = 0;
    if (dim->format != PLEAT_DIM_GENERAL_BLOCK)
        return pleat_dim_count(dim, pleat_dim_is_cyclic(dim) ? dim->first : 0);
    for (int i = 0; i < dim->processes; i++)
        if (pleat_dim_count(dim, i) > most)
            most = pleat_dim_count(dim, i);
    return most;
}

/* The process whose interval has the index: the last one that begins at or before it. */
static int general_owner(const struct pleat_dim *dim, int64_t global)
{
    int low = 0;
    int high = dim->processes - 1;
    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        if (dim->bounds[middle] <= global)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static int balanced_owner(const struct pleat_dim *dim, int64_t global)
{
    int64_t base = dim->extent / dim->processes;
    int64_t more = dim->extent % dim->processes;
    int64_t longer = more * (base + 1); /* indices of the processes with one more */
    if (global < longer)
        return (int)(global / (base + 1));
    return (int)(more + (global - longer) / base);
}

int pleat_dim_owner(const struct pleat_dim *dim, int64_t global)
{
    if (pleat_dim_is_cyclic(dim))
        return (int)((global / block_of(dim) + dim->first) % dim->processes);
    if (dim->format == PLEAT_DIM_GENERAL_BLOCK)
        return general_owner(dim, global);
    return dim->format == PLEAT_DIM_BLOCK ? balanced_owner(dim, global) : 0;
}

int64_t pleat_dim_local(const struct pleat_dim *dim, int64_t global)
{
    if (!pleat_dim_is_cyclic(dim))
        return global - pleat_dim_interval(dim, pleat_dim_owner(dim, global)).first;
    int64_t block = block_of(dim);
    return global / (block * dim->processes) * block + global % block;
}

int64_t pleat_dim_global(const struct pleat_dim *dim, int coordinate, int64_t local)
{
    if (!pleat_dim_is_cyclic(dim))
        return pleat_dim_interval(dim, coordinate).first + local;
    int64_t block = block_of(dim);
    return (local / block * dim->processes + turn_of(dim, coordinate)) * block + local % block;
}

int64_t pleat_dim_next(const struct pleat_dim *dim, int coordinate, int64_t global)
{
    int64_t block = block_of(dim);
    int64_t ahead = turn_of(dim, coordinate) - global / block % dim->processes;
    if (ahead == 0)
        return global;
    if (ahead < 0)
        ahead += dim->processes;
    return (global / block + ahead) * block;
}

int64_t pleat_dim_block_end(const struct pleat_dim *dim, int64_t global)
{
    int64_t block = block_of(dim);
    return global - global % block + block;
}

int64_t pleat_dim_halo_processes(int64_t extent, int64_t halo, bool wraps)
{
    if (!halo || !extent)
        return INT64_MAX;
    if (wraps) /* every process is between two others, so the smallest part counts */
        return extent / halo;
    if (halo == 1 || extent <= 2)
        return INT64_MAX;
    /* Those with two neighbours count. Of n processes the last one may have one element less than
     * they have, so the smallest of these has (extent + 1) / n. */
    int64_t most = (extent + 1) / halo;
    return most > 2 ? most : 2;
}

#include "dist/grid.h"

#include <inttypes.h>
#include <string.h>

/* The best grid so far. Costs are compared first, then the spread of the counts, then the counts:
 * smaller ones first. */
struct search {
    const struct pleat_grid_wish *wish;
    bool by_extents;
    bool found;
    int best[PLEAT_DIST_DIMS];
    double cost;
    int64_t spread;
    int current[PLEAT_DIST_DIMS];
};

static int64_t local_of(const struct search *search, int d)
{
    int64_t extent = search->wish->extent[d];
    int processes = search->current[d];
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): called when all of `current` is set */
    return extent / processes + (extent % processes != 0);
}

/* What a process in the middle sends: both faces of its block in every dimension that is divided.
 */
static double surface(const struct search *search)
{
    double sum = 0;
    for (int d = 0; d < search->wish->dims; d++) {
        double face = search->current[d] > 1 ? 2 : 0;
        for (int other = 0; other < search->wish->dims; other++)
            if (other != d)
                face *= (double)local_of(search, other);
        sum += face;
    }
    return sum;
}

static bool is_within_aspect(const struct search *search)
{
    int64_t longest = 0;
    int64_t shortest = INT64_MAX;
    for (int d = 0; d < search->wish->dims; d++) {
        int64_t side = search->by_extents ? local_of(search, d) : search->current[d];
        longest = side > longest ? side : longest;
        shortest = side < shortest ? side : shortest;
    }
    return !search->wish->aspect || longest <= shortest * search->wish->aspect;
}

static bool is_allowed(const struct search *search, int d)
{
    const struct pleat_grid_wish *wish = search->wish;
    int count = search->current[d];
    if (wish->fixed[d] && count != wish->fixed[d])
        return false;
    if (wish->most[d] && count > wish->most[d])
        return false;
    if (!search->by_extents)
        return true;
    if (wish->even && wish->extent[d] % count != 0)
        return false;
    return count <= wish->extent[d] || count == 1;
}

static void consider(struct search *search)
{
    double cost = search->by_extents ? surface(search) : 0;
    int64_t spread = 0;
    if (!is_within_aspect(search))
        return;
    for (int d = 0; d < search->wish->dims; d++)
        spread += search->current[d];
    /* counts are tried in ascending order: the first of equals stays */
    if (search->found &&
        (cost > search->cost || (cost >= search->cost && spread >= search->spread)))
        return;
    search->found = true;
    search->cost = cost;
    search->spread = spread;
    memcpy(search->best, search->current, sizeof(search->best));
}

/* Tries all divisors of what is left for dimension d and those after it. */
static void divide(struct search *search, int d, int left)
{
    bool last = d == search->wish->dims - 1;
    for (int count = last ? left : 1; count <= left; count++) {
        if (left % count != 0)
            continue;
        search->current[d] = count;
        if (!is_allowed(search, d))
            continue;
        if (last)
            consider(search);
        else
            divide(search, d + 1, left / count);
    }
}

static bool find(int size, const struct pleat_grid_wish *wish, int *grid)
{
    struct search search = {.wish = wish};
    for (int d = 0; d < wish->dims; d++)
        search.by_extents |= wish->extent[d] > 0;
    divide(&search, 0, size);
    for (int d = 0; search.found && d < wish->dims; d++)
        grid[d] = search.best[d];
    return search.found;
}

static int check(int size, const struct pleat_grid_wish *wish, struct pleat_error *err)
{
    if (size < 1 || size > PLEAT_DIM_PROCESSES_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "a grid of %d processes: not 1 to %d", size,
                               PLEAT_DIM_PROCESSES_MAX);
    if (wish->dims < 1 || wish->dims > PLEAT_DIST_DIMS || wish->aspect < 0)
        return pleat_error_set(err, PLEAT_E_INVALID, "a grid of %d dimensions with an aspect of %d",
                               wish->dims, wish->aspect);
    for (int d = 0; d < wish->dims; d++)
        if (wish->fixed[d] < 0 || wish->most[d] < 0 || wish->extent[d] < 0 ||
            wish->extent[d] > PLEAT_DIM_EXTENT_MAX)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "dimension %d of a grid: fixed %d, most %d, extent %" PRId64, d,
                                   wish->fixed[d], wish->most[d], wish->extent[d]);
    return 0;
}

int pleat_grid_propose(int size, const struct pleat_grid_wish *wish, int *grid,
                       struct pleat_error *err)
{
    int failed = check(size, wish, err);
    if (failed)
        return failed;
    for (int used = size; used >= (wish->fewer ? 1 : size); used--)
        if (find(used, wish, grid))
            return 0;
    return pleat_error_set(err, PLEAT_E_NOTFOUND,
                           "no grid of %s%d processes in %d dimensions is as wished",
                           wish->fewer ? "at most " : "", size, wish->dims);
}

/* dist_elements.h - the elements of a rank's local array, and the pieces in which they are
 * exchanged, for tests and benchmarks of src/dist.
 */
#ifndef PLEAT_TESTS_SUPPORT_DIST_ELEMENTS_H
#define PLEAT_TESTS_SUPPORT_DIST_ELEMENTS_H

#include "dist/dist.h"
#include "dist/runs.h"

/* Which element of the array is at `local` of the local array, without halos, of a rank that is in
 * the grid. */
static inline void dist_global(const struct pleat_dist *dist, int rank, const int64_t *local,
                               int64_t *global)
{
    int coordinates[PLEAT_DIST_DIMS];
    (void)pleat_dist_coordinates(dist, rank, coordinates);
    for (int d = 0; d < dist->dims; d++)
        global[d] = pleat_dim_global(&dist->dim[d], coordinates[d], local[d]);
}

/* Where an element that the rank owns is in its local array, in bytes from its beginning. */
static inline int64_t dist_offset(const struct pleat_dist *dist, const struct pleat_layout *layout,
                                  const int64_t *local)
{
    int64_t offset = 0;
    for (int d = 0; d < dist->dims; d++)
        offset += (local[d] + dist->dim[d].halo_low) * layout->stride[d];
    return offset;
}

/* Equal pieces at equal distances, as MPI_Type_vector has them: of mine, in indices. */
struct vector {
    int64_t first;
    int64_t count;
    int64_t length;
    int64_t step;
};

/* Run number `run` in all periods, as one or two vectors (the second one: what is cut off at the
 * end); returns how many, and 0 where the list ends before.
 *
 * A datatype of MPI for a peer's part is made from the fastest dimension to the slowest: in each,
 * the vectors of all runs, one after the other, at `stride` bytes for an index, whose element is
 * the type of the dimension before. Types that both sides make so have the same signature. */
static inline int dist_vectors(const struct pleat_runs *runs, size_t run, struct vector vectors[2])
{
    const struct pleat_index_run *r = &runs->run[run];
    int64_t whole = runs->elements / runs->per_period;
    int64_t rest = runs->elements % runs->per_period - r->before;
    rest = rest < r->length ? rest : r->length;
    int count = 0;
    if (rest == r->length) { /* whole in the last period, too */
        whole++;
        rest = 0;
    }
    if (whole > 0)
        vectors[count++] = (struct vector){r->mine, whole, r->length, runs->mine_step};
    if (rest > 0)
        vectors[count++] = (struct vector){r->mine + whole * runs->mine_step, 1, rest, 0};
    return count;
}

#endif

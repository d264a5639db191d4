/* runs.h - what two distributions of one dimension have in common: runs of indices that are
 * contiguous in the global array, in the memory of one process ("mine") and in that of another one
 * (a "peer").
 *
 * Where a side is block-cyclic the runs repeat with a period (the least common multiple of both
 * cycles), so only those of the first period are kept: the memory for a dimension does not grow
 * with its extent, unless the cycles have a long common multiple: blocks of millions of indices
 * against cyclic ones.
 */
#ifndef PLEAT_DIST_RUNS_H
#define PLEAT_DIST_RUNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "dist/dim.h"

/* The most runs that a dimension of a plan has (200 MB). */
#define PLEAT_RUNS_MAX ((size_t)1 << 21)

struct pleat_index_run {
    int64_t global; /* first index */
    int64_t length;
    int64_t mine; /* index in memory, halos included, on either side */
    int64_t peer;
    int64_t before; /* elements of the list's runs before this one */
    int whose;      /* index into struct pleat_runs_dim.coordinate */
};

/* A list of runs, in ascending order of the global index (and of `mine` and `peer`, too). They are
 * repeated: in the next period the same runs are `mine_step` and `peer_step` indices further (0
 * where there is one period only). The list ends after `elements`, where the last period may be cut
 * off. */
struct pleat_runs {
    const struct pleat_index_run *run;
    size_t count;
    int64_t elements;
    int64_t per_period; /* elements in a whole period: not 0 */
    int64_t mine_step;
    int64_t peer_step;
};

/* One dimension of a plan. */
struct pleat_runs_dim {
    /* All of mine that is moved, in order; more than one list where the peers have contiguous
     * blocks. A run's `before` counts within its list. */
    struct pleat_runs *all;
    size_t lists;
    int64_t elements;
    /* The same for each peer: its coordinate, and its runs. Peers without any are not there. */
    int *coordinate;
    struct pleat_runs *peer;
    size_t peers;
    struct pleat_index_run *store[2]; /* the runs of `all` and of `peer` */
};

/* A side: a dimension, and whether halos are moved, too: where they lie inside the global array
 * they count as if the process owned them. */
struct pleat_runs_side {
    const struct pleat_dim *dim;
    bool halos;
};

/* Makes the runs of all that process `coordinate` of `mine` has. At most one side has halos.
 * PLEAT_E_TOOBIG: it takes more than PLEAT_RUNS_MAX runs; PLEAT_E_NOMEM. */
int pleat_runs_make(const struct pleat_runs_side *mine, int coordinate,
                    const struct pleat_runs_side *peer, struct pleat_runs_dim *runs,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts zero bytes, and leaves them. */
void pleat_runs_finish(struct pleat_runs_dim *runs);

/* Where an element of a list is, by its number. */
struct pleat_runs_place {
    int64_t period;
    size_t run;
    int64_t in_run;
};

struct pleat_runs_place pleat_runs_find(const struct pleat_runs *runs, int64_t element);

#endif

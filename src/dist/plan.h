/* plan.h - what moves when an array changes its distribution: one rank's view of it.
 *
 * A receive plan says what a new rank gets from which old ranks; a send plan what an old rank gives
 * to which new ranks. Ranks keep their numbers: what a rank has before and after stays in place.
 * Both sides see the elements that a pair of ranks exchange in the same order (global indices,
 * nested as the new array is stored), so what one packs the other one can unpack.
 *
 * What a pair exchanges is the product of what they share in each dimension (runs.h); no more is
 * kept than the runs of each dimension. A plan holds copies of both descriptions, but their names
 * and the bounds of general blocks belong to the caller, and must live as long as the plan. Nothing
 * here blocks. copy.h carries a plan out.
 */
#ifndef PLEAT_DIST_PLAN_H
#define PLEAT_DIST_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "dist/dist.h"
#include "dist/runs.h"

/* Halos of the new array that lie inside the global array are filled, too. */
#define PLEAT_DIST_PLAN_HALOS 1u

struct pleat_dist_plan {
    struct pleat_dist old, new;
    bool sends; /* a send plan: mine is old, the peers are new; else the other way round */
    bool halos;
    int rank;
    struct pleat_layout mine; /* of the local array on this side */
    struct pleat_runs_dim dim[PLEAT_DIST_DIMS];
    size_t copies; /* how many ranks want each peer's part: more than 1 where the array is
                    * replicated */
    size_t peers;
    int64_t bytes; /* received or sent in all, what stays in place included */
};

/* Plans for one rank from `old` to `new`, which must have the same extents and element size.
 * allocated: of this rank's local array, as for pleat_dist_layout; may be NULL. A rank that has no
 * part gets a plan without peers. flags: PLEAT_DIST_PLAN_HALOS or 0, the same on all ranks.
 * PLEAT_E_INVALID: a description is impossible, or they do not fit together; PLEAT_E_TOOBIG;
 * PLEAT_E_NOMEM. After success, pleat_dist_plan_finish frees what it holds. */
int pleat_dist_plan_receive(const struct pleat_dist *old, const struct pleat_dist *new, int rank,
                            const int64_t *allocated, unsigned flags, struct pleat_dist_plan *plan,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_dist_plan_send(const struct pleat_dist *old, const struct pleat_dist *new, int rank,
                         const int64_t *allocated, unsigned flags, struct pleat_dist_plan *plan,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts zero bytes. */
void pleat_dist_plan_finish(struct pleat_dist_plan *plan);

/* The part of one peer. */
struct pleat_dist_plan_peer {
    int rank;
    int64_t bytes; /* more than 0 */
    const struct pleat_runs *part[PLEAT_DIST_DIMS];
};

/* Peer number `index`, 0 to plan->peers - 1, in the order of their coordinates. */
void pleat_dist_plan_peer(const struct pleat_dist_plan *plan, size_t index,
                          struct pleat_dist_plan_peer *peer);
/* The index of a rank, or SIZE_MAX: nothing is exchanged with it. */
size_t pleat_dist_plan_find(const struct pleat_dist_plan *plan, int rank);
/* The order in which elements are exchanged and local arrays are written: dimension number `step`,
 * from the fastest in the new array. */
int pleat_dist_plan_order(const struct pleat_dist_plan *plan, int step);

/* Over all ranks: the bytes of the new distribution that come from another rank. Without halos.
 * Errors as above. */
int pleat_dist_plan_moved(const struct pleat_dist *old, const struct pleat_dist *new,
                          int64_t *moved, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

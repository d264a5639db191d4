/* copy.h - carries out a plan (plan.h) in memory: from the local arrays of peers into one's own, or
 * by way of buffers that are sent. Copies only: nothing blocks, nothing else is touched.
 */
#ifndef PLEAT_DIST_COPY_H
#define PLEAT_DIST_COPY_H

#include "dist/plan.h"

/* A peer's local array, as memory that this process can read. */
struct pleat_copy_source {
    const void *base;
    const int64_t *allocated; /* as for pleat_dist_layout, of that rank; may be NULL */
};

/* Of a receive plan: copies all of it from the peers' local arrays (sources[i] of peer i), in the
 * order of the destination's memory. `mine` is the new local array and overlaps none of them. Fails
 * before it writes. PLEAT_E_INVALID: an `allocated` is too small; PLEAT_E_NOMEM. */
int pleat_copy_all(const struct pleat_dist_plan *plan, const struct pleat_copy_source *sources,
                   void *mine, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same from one peer; what others give is not touched. */
int pleat_copy_peer(const struct pleat_dist_plan *plan, size_t peer,
                    const struct pleat_copy_source *source, void *mine,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

/* Of either plan: packs what is exchanged with a peer into a contiguous buffer, a piece at a time:
 * as many whole elements as fit into `room` bytes, from *done on (bytes, first 0), which moves on.
 * Returns the bytes written; 0 once all is packed, or if `room` is less than an element. */
int64_t pleat_copy_pack(const struct pleat_dist_plan *plan, size_t peer, const void *mine,
                        int64_t *done, void *buffer, int64_t room);
/* The inverse: puts `bytes` packed bytes, whole elements, to their places. Pieces may be cut in
 * other places than they were packed. Returns the bytes taken. */
int64_t pleat_copy_unpack(const struct pleat_dist_plan *plan, size_t peer, void *mine,
                          int64_t *done, const void *buffer, int64_t bytes);

#endif

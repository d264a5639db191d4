/* measured.h - what iterations took, by size and process grid */
#ifndef PLEAT_DAEMON_MEASURED_H
#define PLEAT_DAEMON_MEASURED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "model/event.h"
#include "model/records.h"

/* At one size, on one grid. */
struct measured_size {
    struct pleat_timing timing;
    uint64_t grid; /* base/grid.h; 0: the program says of none */
};

/* Sorted by size. Of the grids of a size the one that was used last stands in front: it counts
 * where a size alone is meant. */
PLEAT_ARRAY(measured_sizes, struct measured_size);

/* What is known of a size on a grid; made where there is nothing, as that which was used last.
 * NULL: out of memory, or there are too many. */
struct measured_size *measured_at(struct measured_sizes *list, int32_t processors, uint64_t grid);
/* A report, as the core gets it. False: it could not be kept. */
bool measured_take(struct measured_sizes *list, const struct pleat_event *measured, uint64_t grid);
/* The index of the first of the i-th size's on from there, which counts; list->count: there is
 * none.
 */
size_t measured_next(const struct measured_sizes *list, size_t i);
/* The one of a size that counts; NULL. */
const struct measured_size *measured_of(const struct measured_sizes *list, int32_t processors);

/* docs/protocol.md, "Members of sizes". */
json_t *measured_to_json(const struct measured_sizes *list);
/* The same of sizes that were measured on a process grid, alone. */
json_t *measured_on_grids_to_json(const struct measured_sizes *list);
/* Reads that. */
void measured_read(struct measured_sizes *list, const json_t *sizes);
/* Grids of two dimensions at these sizes on which nothing was measured, as the law of speed_law.h
 * has them; empty where no size was measured on two grids that differ in more than their order. */
json_t *measured_grids_to_json(const struct measured_sizes *list);
/* From each size to the next one, larger or smaller: what costs least, or gains most, stands in
 * front (Swaminathan 2004, 3.4.4). */
json_t *measured_points_to_json(const struct measured_sizes *list, bool larger);

#endif

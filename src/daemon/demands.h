/* demands.h - which processes the runs of a program asked for, and at which iterations */
#ifndef PLEAT_DAEMON_DEMANDS_H
#define PLEAT_DAEMON_DEMANDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

/* So many runs are kept of a program, the last ones; and so many rows of each. */
enum { DEMAND_RUNS_MOST = 16, DEMAND_ROWS_MOST = 64 };

struct demand_row {
    int32_t iteration, requests;
};
PLEAT_ARRAY(demand_rows, struct demand_row);

/* What a run asked for; or several runs together. */
struct demand {
    uint64_t run;       /* while it goes on; 0: nothing was told of one yet */
    uint32_t told;      /* requests in that run, as its agent said last */
    int32_t executions; /* how many runs these are */
    uint32_t most;      /* in a row, as the core counts them (pleat_buffer.row) */
    int64_t requests, satisfied;
    int64_t iteration_us;       /* the mean; 0: not known */
    int64_t waited_us, held_us; /* as pleat_buffer has them */
    struct demand_rows rows;    /* by rising iteration */
};
PLEAT_ARRAY(demands, struct demand); /* the oldest first */

/* An agent says how many processes a run has asked for, `requests`, the last ones of them at that
 * iteration. What is known of an earlier run goes. `before`: requests of this run that were known
 * before pleatd was started; nobody knows at which iterations these were. */
void demand_take(struct demand *demand, uint64_t run, uint32_t before, int32_t iteration,
                 uint32_t requests);
/* Is it known at which iteration each of so many requests was made? */
bool demand_is_whole(const struct demand *demand, uint32_t requests);
void demand_finish(struct demand *demand);

/* Takes a run, and lets go of the oldest one beyond DEMAND_RUNS_MOST; `run` is empty then. */
int demands_add(struct demands *runs, struct demand *run) PLEAT_MUST_CHECK;
/* All of them together; *sum, which is empty before, is the caller's to finish. */
int demands_sum(const struct demands *runs, struct demand *sum) PLEAT_MUST_CHECK;
void demands_finish(struct demands *runs);

/* docs/protocol.md, "Members of demand". */
json_t *demands_to_json(const struct demands *runs);
/* The same of all of them together; null: there are none. */
json_t *demands_sum_to_json(const struct demands *runs);
/* Reads what demands_to_json wrote. */
void demands_read(struct demands *runs, const json_t *array);

#endif

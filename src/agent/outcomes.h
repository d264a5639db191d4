/* outcomes.h - what came of requests about a run. Notifications can be lost with a connection, and
 * requests are repeated. So outcomes are kept until the run is forgotten (the last
 * PLEAT_OUTCOMES_MAX), and are told again. */
#ifndef PLEAT_AGENT_OUTCOMES_H
#define PLEAT_AGENT_OUTCOMES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

#define PLEAT_OUTCOMES_MAX 64

struct pleat_run;

struct pleat_run_outcome {
    const char *method; /* a literal */
    uint64_t resize;
    json_t *params;
};
PLEAT_ARRAY(pleat_outcomes, struct pleat_run_outcome);

/* The kind of a request that is repeated. */
enum pleat_outcome_of {
    PLEAT_OUTCOME_OF_ASK,
    PLEAT_OUTCOME_OF_RESIZE,
    PLEAT_OUTCOME_OF_RELAUNCH,
    PLEAT_OUTCOME_OF_CHECKPOINT
};

/* Returns {"run", "resize"}, to which the caller adds more; NULL: no memory. */
json_t *pleat_outcome_params(const struct pleat_run *run, uint64_t resize);
/* The JSON integer of a number that an application wrote; a number that does not fit is cut. */
json_t *pleat_outcome_number(uint64_t value);
/* Tells an outcome and keeps it. params is stolen; NULL: there was no memory for it. */
void pleat_outcome_add(struct pleat_run *run, const char *method, uint64_t resize, json_t *params);
/* Tells the outcome of a request again. False: the request has none yet. */
bool pleat_outcome_tell(const struct pleat_run *run, enum pleat_outcome_of of, uint64_t resize);
/* Whether a request has that outcome. */
bool pleat_outcome_is(const struct pleat_run *run, const char *method, uint64_t resize);
/* What a request has done is undone: its outcomes are not told any more. */
void pleat_outcome_drop(struct pleat_run *run, uint64_t resize);
/* Tells all outcomes of a run again. */
void pleat_outcomes_report(const struct pleat_run *run);
void pleat_outcomes_finish(struct pleat_run *run);

#endif

/* outcomes.h - what came of requests about a run. Notifications can be lost with a connection, and
 * requests are repeated, so what they say is kept until the run is forgotten (the last
 * PLEAT_OUTCOMES_MAX), and told again. */
#ifndef PLEAT_AGENT_OUTCOMES_H
#define PLEAT_AGENT_OUTCOMES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

#define PLEAT_OUTCOMES_MAX 64

struct pleat_run;

struct pleat_outcome {
    const char *method; /* a literal */
    uint64_t resize;
    json_t *params;
};
PLEAT_ARRAY(pleat_outcomes, struct pleat_outcome);

/* Which request a repeated one is. */
enum pleat_outcome_of { PLEAT_OUTCOME_OF_ASK, PLEAT_OUTCOME_OF_RESIZE, PLEAT_OUTCOME_OF_RELAUNCH };

/* {"run", "resize"}, for more to be added; NULL: no memory. */
json_t *pleat_outcome_params(const struct pleat_run *run, uint64_t resize);
/* A number that an application wrote: what does not fit a JSON integer is cut. */
json_t *pleat_outcome_number(uint64_t value);
/* Tells an outcome and keeps it; params is stolen, NULL: there was no memory for it. */
void pleat_outcome_add(struct pleat_run *run, const char *method, uint64_t resize, json_t *params);
/* Tells again what came of a request; false when nothing has (yet). */
bool pleat_outcome_tell(const struct pleat_run *run, enum pleat_outcome_of of, uint64_t resize);
/* Tells all again. */
void pleat_outcomes_report(const struct pleat_run *run);
void pleat_outcomes_finish(struct pleat_run *run);

#endif

/* forecast.h - when waiting jobs will start, if all goes as their estimates say.
 *
 * A core's saved state goes on in a core of its own: the same state machine, the same policies,
 * nobody asked. What sites, runners and agents would have to answer is answered at once and well;
 * a job ends when its user's estimate says so, or at its time limit, and one that has neither never
 * does. Nothing new comes: no submission, no failure, no other load on the machine. At one instant
 * all that ends ends, then the policies decide, as in a simulation, to which this is compared in
 * tests.
 *
 * So a forecast cannot know what depends on the moments of passes, or on what is reported: policies
 * that go by iteration times (PLEAT_NEEDS_TIMES) learn these as jobs run, each report brings a
 * pass, and some find more in a second pass than in the first (backfilling, conservative above all,
 * which gives out all places anew when one that was promised a start did not have it in time).
 *
 * Reads no clock, does no input or output, and touches nothing but its arguments: any thread may
 * call it.
 */
#ifndef PLEAT_FORECAST_FORECAST_H
#define PLEAT_FORECAST_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

/* Why it is not known when a job starts. */
enum pleat_forecast_why {
    PLEAT_FORECAST_KNOWN,
    PLEAT_FORECAST_HELD,        /* its user holds it */
    PLEAT_FORECAST_NEEDS,       /* it waits for jobs whose end is not known */
    PLEAT_FORECAST_NO_ESTIMATE, /* jobs run, or start before it, that say no end */
    PLEAT_FORECAST_NEVER,       /* as things are the policies do not start it */
    PLEAT_FORECAST_TOO_FAR      /* the caller did not let it look that far */
};

struct pleat_forecast_row {
    uint64_t job;
    uint32_t component;
    int64_t start_us; /* PLEAT_NEVER: not known */
    enum pleat_forecast_why why;
};
PLEAT_ARRAY(pleat_forecast_rows, struct pleat_forecast_row);

struct pleat_forecast {
    struct pleat_forecast_rows rows; /* those that waited, by component */
    int64_t until_us;                /* it looked so far */
    size_t steps;
    bool complete; /* false: it was told to stop */
};

/* bytes: of pleat_core_save, aligned as malloc aligns. go_on is asked between two steps; false:
 * what is known by then is the answer. Finish *forecast in any case. Errors are those of the core.
 */
int pleat_forecast_make(const char *bytes, size_t size, int64_t now_us, bool (*go_on)(void *arg),
                        void *arg, struct pleat_forecast *forecast,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_forecast_finish(struct pleat_forecast *forecast);
/* "no estimate", "held", ...; NULL where it is known. */
const char *pleat_forecast_why_name(enum pleat_forecast_why why);

#endif

/* forecast.h - when waiting jobs will start, if all goes as their estimates say.
 *
 * A core's saved state goes on in a second core, with the same state machine and policies. Requests
 * to sites, runners and agents are answered at once, and successfully. A job ends when its estimate
 * says so, or at its time limit; a job that has neither never ends. Nothing new comes: no
 * submission, no failure, no other load. At one instant all ends come first, then the policies
 * decide, as in a simulation; tests compare the two.
 *
 * So a forecast cannot know what depends on the moments of passes, or on what is reported. Policies
 * that use iteration times (PLEAT_NEEDS_TIMES) learn these as jobs run. Each report brings a pass,
 * and some policies find more in a second pass than in the first: backfilling, above all the
 * conservative one, which plans all jobs anew if one did not get its promised start in time.
 *
 * Reads no clock, does no input or output, and uses nothing but its arguments: any thread may call
 * it.
 */
#ifndef PLEAT_FORECAST_FORECAST_H
#define PLEAT_FORECAST_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

/* Why a job's start is not known. */
enum pleat_forecast_why {
    PLEAT_FORECAST_KNOWN,
    PLEAT_FORECAST_HELD,        /* its user holds the job */
    PLEAT_FORECAST_NEEDS,       /* the job waits for jobs whose end is not known */
    PLEAT_FORECAST_NO_ESTIMATE, /* jobs without an estimate run, or start before it */
    PLEAT_FORECAST_NEVER,       /* the policies do not start it as things are */
    PLEAT_FORECAST_TOO_FAR,     /* the caller stopped the forecast before */
    PLEAT_FORECAST_DRAINED      /* the sites where it could start are drained */
};

struct pleat_forecast_row {
    uint64_t job;
    uint32_t component;
    int64_t start_us; /* PLEAT_NEVER: not known */
    enum pleat_forecast_why why;
};
PLEAT_ARRAY(pleat_forecast_rows, struct pleat_forecast_row);

struct pleat_forecast {
    struct pleat_forecast_rows rows; /* the jobs that waited at its beginning, by component */
    int64_t until_us;                /* the moment up to which the forecast goes */
    size_t steps;
    bool complete; /* false: the caller stopped the forecast */
};

/* Makes a forecast. bytes: from pleat_core_save, aligned as malloc aligns. go_on is asked between
 * two steps; if it returns false, the answer is what is known by then. Release *forecast with
 * pleat_forecast_finish in any case. Returns 0 or an error of the core. */
int pleat_forecast_make(const char *bytes, size_t size, int64_t now_us, bool (*go_on)(void *arg),
                        void *arg, struct pleat_forecast *forecast,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_forecast_finish(struct pleat_forecast *forecast);
/* The reason for people, such as "held by its user"; NULL: the start is known. */
const char *pleat_forecast_why_name(enum pleat_forecast_why why);

#endif

/* forecast.h - forecasts of when waiting jobs will start */
#ifndef PLEAT_DAEMON_FORECAST_H
#define PLEAT_DAEMON_FORECAST_H

#include <stdatomic.h>

struct daemon;

/* A forecast is made in a thread of its own. */
struct forecasts {
    atomic_bool ending;
    unsigned under_way;
};

/* Tells the forecasts under way to end soon; they answer with what they have found. Does not wait.
 */
void forecasts_end(struct daemon *d);

#endif

/* forecast.h - when waiting jobs will start */
#ifndef PLEAT_DAEMON_FORECAST_H
#define PLEAT_DAEMON_FORECAST_H

#include <stdatomic.h>

struct daemon;

/* Forecasts are made in threads of their own. */
struct forecasts {
    atomic_bool ending;
    unsigned under_way;
};

/* Those under way end soon, and answer with what they know. */
void forecasts_end(struct daemon *d);

#endif

/* host.h - what sites and runners may use of whoever drives them: the daemon's loop, a test's
 * simulated clock. */
#ifndef PLEAT_MODEL_HOST_H
#define PLEAT_MODEL_HOST_H

#include "model/event.h"

struct pleat_host {
    void *arg;
    /* The driver's time, microseconds since 1970; never goes back. */
    int64_t (*now_us)(void *arg);
    /* Queues an event for the driver's next turn: it is never applied inside the call, so that
     * whoever calls a site or a runner is not called back from within. time_us is filled in. */
    void (*emit)(void *arg, const struct pleat_event *event);
    /* Calls fn(fn_arg, token) from the loop, delay_us from now. Out of memory is fatal to the
     * driver, not returned. A driver drops what is pending before it closes the site or runner. */
    void (*later)(void *arg, int64_t delay_us, void (*fn)(void *fn_arg, uint64_t token),
                  void *fn_arg, uint64_t token);
};

#endif

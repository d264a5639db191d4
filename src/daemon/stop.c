/* Ends pleatd in order. */
#include "daemon/stop.h"
#include "daemon/agents.h"
#include "daemon/daemon.h"

enum { LINGER_MS = 50, LINGER_MOST = 100 };

static void on_linger(uv_timer_t *handle)
{
    daemon_stop(handle->data);
}

/* An agent without jobs is told to end, so pleatd waits for one that is not connected: it was just
 * started, or was started by an earlier pleatd and calls within 200 ms. */
void daemon_stop(struct daemon *d)
{
    d->stopping = true;
    if (d->runs.count == 0 && agents_absent(d) && d->lingered++ < LINGER_MOST)
        uv_timer_start(&d->linger, on_linger, LINGER_MS, 0);
    else
        uv_stop(&d->loop);
}

/* Ends pleatd in order. */
#include "daemon/stop.h"

#include <stdio.h>

#include "daemon/agents.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "wire/message.h"

enum { LINGER_MS = 50, LINGER_MOST = 100, UNATTENDED_MOST = 10 };

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

/* Tells clients that wait for the end that not all jobs have ended. */
static void say_left(struct daemon *d, const char *text)
{
    daemon_log("%s", text);
    for (struct client *client = d->clients; client; client = client->next) {
        struct pleat_string out = {0};
        if (!client->stops || !client->connection)
            continue;
        if (pleat_write_notification(&out, "left", json_pack("{s:s}", "text", text)))
            pleat_string_finish(&out);
        else
            client_send(client, &out);
    }
}

void daemon_stop_unattended(struct daemon *d)
{
    char text[400];
    d->unattended = agents_are_missing(d) ? d->unattended + 1 : 0;
    if (d->unattended < UNATTENDED_MOST)
        return;
    snprintf(text, sizeof(text),
             "pleatd ends, although %zu job%s cancelled and not ended: no agent can be started to "
             "end what may be left of them (pleatd.log says why). The next pleatd does it",
             d->jobs.living, d->jobs.living == 1 ? " was" : "s were");
    say_left(d, text);
    daemon_stop(d);
}

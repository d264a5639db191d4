/* `forecast`: when waiting jobs will start, computed in a thread from a copy of the core's state.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/forecast.h"
#include "daemon/methods.h"
#include "forecast/forecast.h"

enum {
    AT_ONCE = 4,     /* forecasts at a time: each takes a processor */
    ROWS_MAX = 10000 /* jobs in an answer, which must fit into one line */
};
#define SECONDS 2.0
#define SECONDS_MAX 600.0

struct work {
    uv_work_t work;
    struct client *client;
    int64_t request;
    struct pleat_string state;
    int64_t now_us, asked_us, end_us;
    struct pleat_forecast forecast;
    struct pleat_error err;
    int rc;
    struct forecasts *all;
};

static bool may_go_on(void *arg)
{
    const struct work *work = arg;
    return !atomic_load(&work->all->ending) && pleat_clock_monotonic_us() < work->end_us;
}

/* Runs in a thread of its own. Of the daemon it sees only the copied state and `ending`. */
static void on_work(uv_work_t *handle)
{
    struct work *work = handle->data;
    work->rc = pleat_forecast_make(work->state.text, work->state.length, work->now_us, may_go_on,
                                   work, &work->forecast, &work->err);
}

static json_t *to_json(const struct work *work)
{
    json_t *list = json_array();
    size_t count = work->forecast.rows.count < ROWS_MAX ? work->forecast.rows.count : ROWS_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct pleat_forecast_row *row = &work->forecast.rows.items[i];
        json_array_append_new(
            list, json_pack("{s:I, s:o, s:s?}", "job", (json_int_t)row->job, "start_s",
                            row->start_us == PLEAT_NEVER ? json_null()
                                                         : json_real((double)row->start_us / 1e6),
                            "why", pleat_forecast_why_name(row->why)));
    }
    return json_pack("{s:o, s:b, s:f, s:I, s:f}", "forecasts", list, "complete",
                     work->forecast.complete && count == work->forecast.rows.count, "until_s",
                     (double)work->forecast.until_us / 1e6, "steps",
                     (json_int_t)work->forecast.steps, "took_s",
                     (double)(pleat_clock_monotonic_us() - work->asked_us) / 1e6);
}

static void on_worked(uv_work_t *handle, int status)
{
    struct work *work = handle->data;
    work->all->under_way--;
    if (work->rc || status < 0)
        client_fail(work->client, work->request, &work->err);
    else
        client_reply(work->client, work->request, to_json(work));
    client_drop(work->client);
    pleat_forecast_finish(&work->forecast);
    pleat_string_finish(&work->state);
    free(work);
}

void forecasts_end(struct daemon *d)
{
    atomic_store(&d->forecasts.ending, true);
}

static int begin(struct client *client, struct work *work, struct pleat_error *err)
{
    struct daemon *d = client->daemon;
    if (pleat_core_save(d->core, &work->state))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a forecast");
    work->work.data = work;
    int status = uv_queue_work(&d->loop, &work->work, on_work, on_worked);
    if (status < 0)
        return pleat_error_sys(err, -status, "cannot begin a forecast");
    work->all->under_way++;
    client_hold(client);
    return 0;
}

int method_forecast(struct client *client, int64_t request, const json_t *params,
                    struct pleat_error *err)
{
    double seconds = SECONDS;
    int rc = pleat_get_real(params, "seconds", false, &seconds, err);
    if (!rc && !(seconds > 0 && seconds <= SECONDS_MAX))
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'seconds' must be above 0 and at most %g",
                             SECONDS_MAX);
    if (!rc && client->daemon->forecasts.under_way >= AT_ONCE)
        rc = pleat_error_set(err, PLEAT_E_BUSY,
                             "%d forecasts are under way: try again when one has ended", AT_ONCE);
    if (rc)
        return rc;
    struct work *work = calloc(1, sizeof(*work));
    if (!work)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a forecast");
    work->client = client;
    work->all = &client->daemon->forecasts;
    work->request = request;
    work->now_us = daemon_now_us(client->daemon);
    work->asked_us = pleat_clock_monotonic_us();
    work->end_us = work->asked_us + (int64_t)(seconds * 1e6);
    rc = begin(client, work, err);
    if (rc) {
        pleat_string_finish(&work->state);
        free(work);
    }
    return rc;
}

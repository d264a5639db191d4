#include "daemon/couriers.h"

#include "daemon/agent.h"
#include "daemon/courier.h"
#include "daemon/files.h"
#include "daemon/inputs.h"
#include "daemon/jobs.h"
#include "daemon/runs.h"

static bool is_needed(struct daemon *d, int64_t job, bool reads)
{
    return reads ? inputs_are_of_a_file(d, job)
                 : job_file_is_users(d, job, JOB_OUTPUT) || job_file_is_users(d, job, JOB_ERROR);
}

int couriers_open(struct daemon *d, const struct job *job, const struct pleat_effect *start,
                  bool truncate, couriers_opened *opened, struct pleat_error *err)
{
    int waiting = 0;
    for (int reads = 0; reads < 2; reads++) {
        if (!is_needed(d, job->id, reads))
            continue;
        struct courier *courier = courier_find(d, start->id, reads);
        int rc = courier ? 0 : courier_make(d, job->id, start->id, reads, &courier, err);
        if (rc) {
            couriers_forget(d, start->id);
            return rc;
        }
        if (courier->is_open)
            continue;
        courier->truncates = truncate;
        courier->start = *start;
        courier->opened = opened;
        courier->waits = true;
        waiting = 1;
    }
    return waiting;
}

bool couriers_write(struct agent *agent, const struct job *job, const struct pleat_message *message)
{
    int64_t run = 0, stream = 1, offset = 0;
    struct pleat_error err = {0};
    struct pleat_string out = {0};
    if (pleat_get_int(message->params, "run", true, 1, INT64_MAX, &run, NULL) ||
        pleat_get_int(message->params, "stream", true, 1, COURIER_STREAMS, &stream, NULL) ||
        pleat_get_int(message->params, "offset", true, 0, INT64_MAX / 2, &offset, NULL) ||
        !job_file_is_users(agent->daemon, job->id, stream == 2 ? JOB_ERROR : JOB_OUTPUT))
        return false;
    struct courier *courier = courier_find(agent->daemon, (uint64_t)run, false);
    if (!courier && courier_make(agent->daemon, job->id, (uint64_t)run, false, &courier, &err))
        daemon_log("job %lld: %s", (long long)job->id, err.text);
    if (!courier || !courier->is_open) {
        agent->unheard = true;
        if (courier)
            courier_let_go(courier, false);
        return true;
    }
    int64_t end = offset + (int64_t)message->bytes_count;
    if (courier->sent[stream - 1] < end)
        courier->sent[stream - 1] = end;
    json_t *params =
        json_pack("{s:I, s:I}", "stream", (json_int_t)stream, "offset", (json_int_t)offset);
    courier_send(courier, &out,
                 params ? pleat_write_notification_bytes(&out, "output", params, message->bytes,
                                                         message->bytes_count)
                        : PLEAT_E_NOMEM);
    return true;
}

void couriers_listed(struct agent *agent)
{
    struct daemon *d = agent->daemon;
    struct pleat_error err = {0};
    struct courier *courier;
    for (size_t i = 0; agent->apart && i < d->runs.count; i++) {
        const struct active_run *run = &d->runs.items[i];
        const struct job *job = job_of_component(d, run->component);
        const struct pleat_component *c = job ? job_component(d, job) : NULL;
        bool runs = c && (c->state == PLEAT_RUNNING || c->state == PLEAT_RESIZING) && !c->exited;
        if (runs && agent_of_run(d, run) == agent && is_needed(d, job->id, true) &&
            !courier_find(d, run->run, true) &&
            courier_make(d, job->id, run->run, true, &courier, &err))
            daemon_log("job %lld: %s", (long long)job->id, err.text);
    }
}

/* No start waits for it, so it stays. */
static void try_again(struct courier *courier)
{
    struct pleat_error err = {0};
    if (courier->connection && courier->is_open) {
        courier->retries = false;
        courier_tell(courier, "go", json_object());
    } else if (courier->connection && !courier->is_asked) {
        courier_ask_to_open(courier);
    } else if (!courier->connection && !courier->process && courier_spawn(courier, &err)) {
        courier_say(courier, "its input cannot be read", err.text);
    }
}

void couriers_look(struct daemon *d)
{
    for (struct courier *courier = d->couriers.first; courier; courier = courier->next)
        if (courier->retries)
            try_again(courier);
}

void couriers_finish(struct daemon *d)
{
    while (d->couriers.first)
        courier_destroy(d->couriers.first);
}

/* Methods that hold, release, requeue and revise jobs. */
#include "daemon/clients.h"
#include "daemon/jobs.h"
#include "daemon/methods.h"
#include "daemon/turn_inputs.h"
#include "wire/message.h"

/* Queues an event about the job that the params name. */
static int change(struct client *client, int64_t request, const json_t *params,
                  struct pleat_event event, struct pleat_error *err)
{
    int rc;
    const struct job *job = params_job(client, params, &rc, err);
    if (!job)
        return rc;
    event.component = job->component;
    struct input input = {.request = request, .reply = REPLY_EMPTY, .event = event};
    return method_input(client, &input, err);
}

int method_hold(struct client *client, int64_t request, const json_t *params,
                struct pleat_error *err)
{
    return change(client, request, params, (struct pleat_event){.kind = PLEAT_EV_HOLD}, err);
}

int method_release(struct client *client, int64_t request, const json_t *params,
                   struct pleat_error *err)
{
    bool needs = false;
    int rc = pleat_get_bool(params, "needs", false, &needs, err);
    struct pleat_event event = {.kind = PLEAT_EV_RELEASE,
                                .flags = needs ? PLEAT_RELEASE_NEEDS : PLEAT_RELEASE_HOLD};
    return rc ? rc : change(client, request, params, event, err);
}

/* Refuses to requeue a job that was submitted with --no-requeue: a slip is likelier than a change
 * of mind. */
static int check_once(struct client *client, const json_t *params, struct pleat_error *err)
{
    int rc;
    const struct job *job = params_job(client, params, &rc, err);
    if (!job || !(job_component(client->daemon, job)->flags & PLEAT_COMPONENT_ONCE))
        return rc;
    return pleat_error_set(err, PLEAT_E_STATE,
                           "job %lld is started once at most, as it was submitted with "
                           "--no-requeue: 'pleat requeue --force %lld' lets it start again all the "
                           "same",
                           (long long)job->id, (long long)job->id);
}

int method_requeue(struct client *client, int64_t request, const json_t *params,
                   struct pleat_error *err)
{
    bool hold = false, force = false;
    int rc = pleat_get_bool(params, "hold", false, &hold, err);
    struct pleat_event event = {.kind = PLEAT_EV_REQUEUE, .flags = hold ? PLEAT_AND_HOLD : 0};
    if (!rc)
        rc = pleat_get_bool(params, "force", false, &force, err);
    if (!rc && !force)
        rc = check_once(client, params, err);
    return rc ? rc : change(client, request, params, event, err);
}

int method_revise(struct client *client, int64_t request, const json_t *params,
                  struct pleat_error *err)
{
    int64_t priority = 0;
    double estimate_s = 0;
    struct pleat_event event = {.kind = PLEAT_EV_REVISE};
    int rc = pleat_get_int(params, "priority", false, INT16_MIN, INT16_MAX, &priority, err);
    if (!rc)
        rc = pleat_get_real(params, "estimate_s", false, &estimate_s, err);
    if (!rc && !(estimate_s >= 0 && estimate_s <= 1e9))
        rc =
            pleat_error_set(err, PLEAT_E_INVALID, "'estimate_s' must be between 0 and 1e9 seconds");
    if (!rc && !json_object_get(params, "priority") && !json_object_get(params, "estimate_s"))
        rc = pleat_error_set(err, PLEAT_E_INVALID, "neither 'priority' nor 'estimate_s' is there");
    if (json_object_get(params, "priority"))
        event.flags |= PLEAT_REVISE_PRIORITY;
    if (json_object_get(params, "estimate_s"))
        event.flags |= PLEAT_REVISE_ESTIMATE;
    event.u.revise.priority = (int16_t)priority;
    event.u.revise.estimate_us = pleat_estimate_for_core((int64_t)(estimate_s * 1e6));
    return rc ? rc : change(client, request, params, event, err);
}

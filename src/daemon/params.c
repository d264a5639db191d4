/* What methods share: finding the job that they are about, and queueing an input. */
#include "daemon/accounts.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/methods.h"
#include "daemon/turn_inputs.h"
#include "wire/message.h"

int params_job_if_named(struct client *client, const json_t *params, int64_t *id,
                        struct pleat_error *err)
{
    *id = -1;
    int rc = pleat_get_int(params, "job", false, 1, INT64_MAX, id, err);
    if (rc || *id < 0 || job_find(client->daemon, *id) || accounts_know(client->daemon, *id))
        return rc;
    return pleat_error_set(err, PLEAT_E_NOTFOUND, "no job %lld: see 'pleat ps --all'",
                           (long long)*id);
}

int params_job_number(struct client *client, const json_t *params, int64_t *id,
                      struct pleat_error *err)
{
    int rc = params_job_if_named(client, params, id, err);
    if (!rc && *id < 0)
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'job' is missing: which job?");
    return rc;
}

struct job *params_job(struct client *client, const json_t *params, int *rc,
                       struct pleat_error *err)
{
    int64_t id;
    *rc = params_job_number(client, params, &id, err);
    if (*rc)
        return NULL;
    struct job *job = job_find(client->daemon, id);
    if (!job)
        *rc = pleat_error_set(err, PLEAT_E_STATE, "it has ended already, and is archived");
    return job;
}

int method_check_writing(const struct daemon *d, struct pleat_error *err)
{
    return d->turn.holding
               ? pleat_error_set(
                     err, PLEAT_E_BUSY,
                     "the daemon cannot write its log (%s): requests that change something are "
                     "refused until it can",
                     d->turn.holding_why.text)
               : 0;
}

int method_input(struct client *client, struct input *input, struct pleat_error *err)
{
    struct daemon *d = client->daemon;
    int rc = method_check_writing(d, err);
    if (rc)
        return rc;
    input->client = client;
    turn_input(d, input);
    return 0;
}

/* What clients can ask: a table of methods (docs/protocol.md, "Client and daemon"), and what these
 * have in common. */
#include <string.h>

#include "daemon/archive.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/log.h"
#include "daemon/methods.h"
#include "daemon/turn.h"

int params_job_if_named(struct client *client, const json_t *params, int64_t *id,
                        struct pleat_error *err)
{
    *id = -1;
    int rc = pleat_get_int(params, "job", false, 1, INT64_MAX, id, err);
    if (rc || *id < 0 || job_find(client->daemon, *id) || archive_knows(client->daemon, *id))
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
               ? pleat_error_set(err, PLEAT_E_BUSY,
                                 "the daemon cannot write its log (%s): nothing is taken "
                                 "until it can",
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

/* 0, and what is to be sent at once; or why not. */
static int call(struct client *client, const struct pleat_message *message,
                struct pleat_string *answer, struct pleat_error *err)
{
    static const struct {
        const char *name;
        method *call;
    } methods[] = {
        {"submit", method_submit},     {"jobs", method_jobs},
        {"job", method_job},           {"cancel", method_cancel},
        {"resize", method_resize},     {"limits", method_limits},
        {"wait", method_wait},         {"output", method_output},
        {"events", method_events},     {"follow", method_follow},
        {"sites", method_sites},       {"info", method_info},
        {"policies", method_policies}, {"configure", method_configure},
        {"stop", method_stop},         {"history", method_history},
        {"why", method_why},           {"top", method_top},
        {"clean", method_clean},       {"hold", method_hold},
        {"release", method_release},   {"requeue", method_requeue},
        {"revise", method_revise},     {"forecast", method_forecast},
    };
    int rc = pleat_error_set(err, PLEAT_E_NOTFOUND, "no method '%s'", message->method);
    client->answer = answer;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (!strcmp(methods[i].name, message->method))
            rc = methods[i].call(client, message->id, message->params, err);
    client->answer = NULL;
    return rc;
}

/* An answer made of what could not be read is not sent: it is made again, of what is good. */
void method_call(struct client *client, const struct pleat_message *message)
{
    struct pleat_error err = {0};
    struct pleat_string answer = {0};
    int rc = call(client, message, &answer, &err);
    if ((rc < 0 || answer.length) && log_mend(client->daemon)) {
        pleat_string_finish(&answer);
        memset(&err, 0, sizeof(err));
        rc = call(client, message, &answer, &err);
    }
    if (rc < 0)
        client_fail(client, message->id, &err);
    else if (answer.length)
        client_send(client, &answer);
}

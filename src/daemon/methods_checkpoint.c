/* The method that has a job write a checkpoint. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/agent_link.h"
#include "daemon/checkpoints.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/methods.h"
#include "daemon/specs.h"
#include "model/runner_kind.h"
#include "wire/message.h"

/* Whether ranks are there that could write one. */
static int check(struct daemon *d, const struct job *job, struct pleat_error *err)
{
    const struct pleat_component *component = job_component(d, job);
    const struct pleat_spec *spec = job_spec(d, job->id);
    if (!(pleat_runner_starts(spec->runner) & PLEAT_STARTS_MAILBOX))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "job %lld writes no checkpoints: its runner is '%s', and only a job "
                               "with the runner 'malleable' does (a program that is linked with "
                               "libpleat, submitted with --malleable)",
                               (long long)job->id, spec->runner);
    if (component->state != PLEAT_RUNNING && component->state != PLEAT_RESIZING)
        return pleat_error_set(
            err, PLEAT_E_STATE, "job %lld is not running (%s): its ranks write the checkpoint",
            (long long)job->id,
            pleat_component_state_name((enum pleat_component_state)component->state));
    if (!agent_knows(d, component->site, component->lead_node, PLEAT_FEATURE_CHECKPOINTS))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "the agent of job %lld is away, or was started before Pleat was "
                               "upgraded and knows no checkpoints",
                               (long long)job->id);
    return 0;
}

/* The path of a checkpoint for which the user named none: in the job's directory. */
static int default_path(struct daemon *d, const struct job *job, char path[PATH_MAX],
                        struct pleat_error *err)
{
    const char *cwd = job_spec(d, job->id)->cwd;
    int length =
        snprintf(path, PATH_MAX, "%s/pleat-%lld.checkpoint", cwd ? cwd : "", (long long)job->id);
    return length > 0 && length < PATH_MAX
               ? 0
               : pleat_error_set(err, PLEAT_E_TOOBIG, "the path of a checkpoint is too long");
}

static int tell(struct client *client, const struct awaited *wanted, const char *path, bool stop,
                struct pleat_error *err)
{
    return agent_send(client->daemon, wanted->site, wanted->node, "checkpoint",
                      json_pack("{s:I, s:I, s:s, s:b}", "run", (json_int_t)wanted->run,
                                "checkpoint", (json_int_t)wanted->checkpoint, "path", path, "stop",
                                stop),
                      err);
}

int method_checkpoint(struct client *client, int64_t request, const json_t *params,
                      struct pleat_error *err)
{
    struct daemon *d = client->daemon;
    const char *asked = NULL;
    char path[PATH_MAX];
    bool stop = false, wait = false;
    int rc;
    const struct job *job = params_job(client, params, &rc, err);
    if (!job)
        return rc;
    rc = pleat_get_string(params, "path", false, &asked, err);
    if (!rc)
        rc = pleat_get_bool(params, "stop", false, &stop, err);
    if (!rc)
        rc = pleat_get_bool(params, "wait", false, &wait, err);
    if (!rc)
        rc = method_check_writing(d, err);
    if (!rc)
        rc = check(d, job, err);
    if (!rc && asked && (asked[0] != '/' || strlen(asked) >= sizeof(path)))
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'path' must be absolute, and below %zu bytes",
                             sizeof(path));
    if (!rc && !asked)
        rc = default_path(d, job, path, err);
    if (rc)
        return rc;
    checkpoint_times_look(d); /* checkpoints that are due already get a lower number */
    const struct pleat_component *component = job_component(d, job);
    const struct awaited wanted = {.request = request,
                                   .checkpoint = checkpoint_number(d),
                                   .job = job->id,
                                   .run = component->run,
                                   .site = component->site,
                                   .node = component->lead_node};
    if (wait)
        rc = checkpoint_await(client, &wanted, err);
    if (!rc)
        rc = tell(client, &wanted, asked ? asked : path, stop, err);
    if (rc && wait)
        free(checkpoint_take_of(client));
    if (!rc && !wait)
        client_reply(client, request,
                     json_pack("{s:I, s:s}", "checkpoint", (json_int_t)wanted.checkpoint, "path",
                               asked ? asked : path));
    return rc;
}

void method_client_gone(struct client *client)
{
    struct awaited *awaited;
    while ((awaited = checkpoint_take_of(client))) {
        struct pleat_error err;
        json_t *params = json_pack("{s:I, s:I}", "run", (json_int_t)awaited->run, "checkpoint",
                                   (json_int_t)awaited->checkpoint);
        if (agent_send(client->daemon, awaited->site, awaited->node, "withdraw_checkpoint", params,
                       &err))
            daemon_log("job %lld, a checkpoint: %s", (long long)awaited->job, err.text);
        free(awaited);
    }
}

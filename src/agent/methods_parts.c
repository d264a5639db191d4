#include "agent/methods_parts.h"

#include <inttypes.h>
#include <string.h>

#include "agent/ending.h"
#include "agent/evolve.h"
#include "agent/far.h"
#include "agent/inflow.h"
#include "agent/kind.h"
#include "agent/life.h"
#include "agent/outflow.h"
#include "agent/owner.h"
#include "agent/params.h"
#include "agent/part_mailbox.h"
#include "agent/remote.h"
#include "agent/run.h"
#include "agent/screen.h"

struct pleat_part_method {
    const char *name;
    /* one of both: where bytes come with the request, the second one */
    int (*call)(struct pleat_run *run, const json_t *params, struct pleat_error *err);
    int (*take)(struct pleat_run *run, const json_t *params, const char *bytes, size_t count,
                struct pleat_error *err);
};

int pleat_method_run(const struct pleat_agent *agent, const json_t *params, struct pleat_run **run,
                     struct pleat_error *err)
{
    uint64_t id = 0;
    int result = pleat_param_id(params, "run", &id, err);
    if (result)
        return result;
    *run = pleat_run_find(agent, id);
    if (!*run)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "this agent has no run %" PRIu64, id);
    return 0;
}

/* What was said of its parts may be what was waited for, and what a resize has started may have to
 * end. */
static void look(struct pleat_run *run)
{
    run->kind->look(run);
    if (run->succession)
        pleat_runs_sweep(run->agent);
}

static int part_told(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    int result = run->evolve ? pleat_evolve_part_told(run, params, err)
                             : pleat_remote_told(run, params, err);
    if (!result)
        look(run);
    return result;
}

static int part_said(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    int result = pleat_remote_said(run, params, err);
    if (!result)
        look(run);
    return result;
}

static int part_output(struct pleat_run *run, const json_t *params, const char *bytes, size_t count,
                       struct pleat_error *err)
{
    return run->evolve ? pleat_evolve_part_output(run, params, bytes, count, err)
                       : pleat_remote_output(run, params, bytes, count, err);
}

static int output_heard(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    int result = pleat_outflow_heard(run, params, err);
    if (!result)
        pleat_run_look_at_end(run);
    return result;
}

static int hang_up(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    (void)params;
    (void)err;
    pleat_inflow_hang_up(run);
    pleat_run_look_at_end(run); /* nobody is to hear any more what it has written */
    return 0;
}

static const struct pleat_part_method methods[] = {
    {.name = "part_told", .call = part_told},
    {.name = "part_said", .call = part_said},
    {.name = "part_order", .call = pleat_part_mailbox_order},
    {.name = "part_output", .take = part_output},
    {.name = "part_heard", .call = output_heard},
    {.name = "part_go", .call = pleat_outflow_go},
    {.name = "output_heard", .call = output_heard},
    {.name = "output_go", .call = pleat_outflow_go},
    {.name = "input", .take = pleat_inflow_take},
    {.name = "window", .call = pleat_screen_resize},
    {.name = "hang_up", .call = hang_up},
    {.name = "prepare", .call = pleat_evolve_prepare},
    {.name = "unprepare", .call = pleat_evolve_unprepare},
    {.name = "leave", .call = pleat_evolve_leave},
    {.name = "process_known", .call = pleat_evolve_known},
    {.name = "architectures", .call = pleat_evolve_architectures},
    {.name = "process_said", .call = pleat_evolve_said},
    {.name = "process_told", .call = pleat_far_told},
};

const struct pleat_part_method *pleat_part_method_find(const char *name)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
        if (strcmp(name, methods[i].name) == 0)
            return &methods[i];
    return NULL;
}

int pleat_part_method_call(struct pleat_agent *agent, const struct pleat_part_method *method,
                           const struct pleat_message *message, struct pleat_error *err)
{
    struct pleat_run *run = NULL;
    int result = pleat_method_run(agent, message->params, &run, err);
    if (result)
        return result;
    return method->call
               ? method->call(run, message->params, err)
               : method->take(run, message->params, message->bytes, message->bytes_count, err);
}

#include "agent/kind.h"

#include <inttypes.h>

void pleat_run_add_variable(struct pleat_string *own, const char *name, const char *value)
{
    pleat_string_addf(own, "%s=%s", name, value);
    pleat_string_add_bytes(own, "", 1);
}

static bool is_wanted(const struct pleat_run_request *request)
{
    (void)request;
    return true;
}

static int create(struct pleat_run *run, const struct pleat_run_request *request,
                  struct pleat_error *err)
{
    (void)run;
    (void)request;
    (void)err;
    return 0;
}

void pleat_kind_no_environment(const struct pleat_run *run,
                               const struct pleat_generation *generation, struct pleat_string *own)
{
    (void)run;
    (void)generation;
    (void)own;
}

bool pleat_kind_starts_itself(struct pleat_run *run, const struct pleat_error *failure)
{
    (void)run;
    (void)failure;
    return false;
}

void pleat_kind_nothing(struct pleat_run *run)
{
    (void)run;
}

bool pleat_kind_never(struct pleat_run *run)
{
    (void)run;
    return false;
}

static void over(struct pleat_run *run, bool broken)
{
    (void)run;
    (void)broken;
}

pid_t pleat_kind_no_part(const struct pleat_run *run)
{
    (void)run;
    return 0;
}

uint32_t pleat_kind_no_ranks(const struct pleat_run *run, int32_t *pids, uint32_t room)
{
    (void)run;
    (void)pids;
    (void)room;
    return 0;
}

void pleat_kind_no_report(const struct pleat_run *run)
{
    (void)run;
}

static int describe(const struct pleat_run *run, json_t *text)
{
    (void)run;
    (void)text;
    return 0;
}

int pleat_kind_no_relaunch(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    (void)params;
    return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                           "run %" PRIu64 " cannot be resized: it has no mailbox", run->id);
}

int pleat_kind_no_checkpoint(struct pleat_run *run, const json_t *params, bool withdraw,
                             struct pleat_error *err)
{
    (void)params;
    (void)withdraw;
    return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                           "run %" PRIu64 " writes no checkpoints: it has no mailbox", run->id);
}

int pleat_kind_no_change(struct pleat_run *run, const json_t *params, bool ask,
                         struct pleat_error *err)
{
    (void)ask;
    return pleat_kind_no_relaunch(run, params, err);
}

void pleat_kind_no_timers(struct pleat_agent *agent)
{
    (void)agent;
}

const struct pleat_run_kind pleat_kind_plain = {
    .name = "plain",
    .is_wanted = is_wanted,
    .create = create,
    .destroy = pleat_kind_nothing,
    .environment = pleat_kind_no_environment,
    .started = pleat_kind_starts_itself,
    .look = pleat_kind_nothing,
    .goes_on = pleat_kind_never,
    .is_broken = pleat_kind_never,
    .over = over,
    .unwanted = pleat_kind_nothing,
    .part = pleat_kind_no_part,
    .ranks = pleat_kind_no_ranks,
    .report = pleat_kind_no_report,
    .describe = describe,
    .change = pleat_kind_no_change,
    .withdraw = pleat_kind_no_relaunch,
    .relaunch = pleat_kind_no_relaunch,
    .checkpoint = pleat_kind_no_checkpoint,
    .arm = pleat_kind_no_timers,
    .greeted = pleat_kind_no_timers,
};

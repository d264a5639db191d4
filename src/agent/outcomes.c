#include "agent/outcomes.h"

#include <inttypes.h>
#include <string.h>

#include "agent/log.h"
#include "agent/notify.h"
#include "agent/run.h"

json_t *pleat_outcome_params(const struct pleat_run *run, uint64_t resize)
{
    return json_pack("{s:I, s:I}", "run", (json_int_t)run->id, "resize", (json_int_t)resize);
}

json_t *pleat_outcome_number(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static void drop_first(struct pleat_outcomes *outcomes)
{
    json_decref(outcomes->items[0].params);
    outcomes->count--;
    memmove(outcomes->items, outcomes->items + 1, outcomes->count * sizeof(*outcomes->items));
}

void pleat_outcome_add(struct pleat_run *run, const char *method, uint64_t resize, json_t *params)
{
    struct pleat_run_outcome outcome = {method, resize, params};
    if (run->outcomes.count >= PLEAT_OUTCOMES_MAX)
        drop_first(&run->outcomes);
    if (params && pleat_array_push(&run->outcomes, outcome) == 0)
        json_incref(params);
    else
        pleat_log("run %" PRIu64 ": no memory to keep '%s'", run->id, method);
    pleat_agent_notify(run->agent, method, params);
}

static bool answers(const struct pleat_run_outcome *outcome, enum pleat_outcome_of of)
{
    switch (of) {
    case PLEAT_OUTCOME_OF_ASK:
        return strcmp(outcome->method, "answer") == 0;
    case PLEAT_OUTCOME_OF_RESIZE:
        return strcmp(outcome->method, "answer") != 0;
    case PLEAT_OUTCOME_OF_RELAUNCH:
        return strcmp(outcome->method, "relaunched") == 0;
    case PLEAT_OUTCOME_OF_CHECKPOINT:
        return strncmp(outcome->method, "checkpoint", strlen("checkpoint")) == 0;
    }
    return false;
}

static void tell(const struct pleat_run *run, const struct pleat_run_outcome *outcome)
{
    pleat_agent_notify(run->agent, outcome->method, json_incref(outcome->params));
}

bool pleat_outcome_tell(const struct pleat_run *run, enum pleat_outcome_of of, uint64_t resize)
{
    bool found = false;
    for (size_t i = 0; i < run->outcomes.count; i++) {
        const struct pleat_run_outcome *outcome = &run->outcomes.items[i];
        if (outcome->resize == resize && answers(outcome, of)) {
            tell(run, outcome);
            found = true;
        }
    }
    return found;
}

bool pleat_outcome_is(const struct pleat_run *run, const char *method, uint64_t resize)
{
    for (size_t i = 0; i < run->outcomes.count; i++)
        if (run->outcomes.items[i].resize == resize &&
            strcmp(run->outcomes.items[i].method, method) == 0)
            return true;
    return false;
}

void pleat_outcome_drop(struct pleat_run *run, uint64_t resize)
{
    size_t kept = 0;
    for (size_t i = 0; i < run->outcomes.count; i++) {
        if (run->outcomes.items[i].resize == resize)
            json_decref(run->outcomes.items[i].params);
        else
            run->outcomes.items[kept++] = run->outcomes.items[i];
    }
    run->outcomes.count = kept;
}

void pleat_outcomes_report(const struct pleat_run *run)
{
    for (size_t i = 0; i < run->outcomes.count; i++)
        tell(run, &run->outcomes.items[i]);
}

void pleat_outcomes_finish(struct pleat_run *run)
{
    while (run->outcomes.count)
        drop_first(&run->outcomes);
    pleat_array_finish(&run->outcomes);
}

/* What an agent tells of a run, as an event. */
#include <string.h>

#include "runner/agent_runner.h"
#include "wire/message.h"

/* Handles the notices started, start_failed, exited and signalled. */
static int notice_life(struct pleat_runner *base, struct pleat_event *event, const char *method,
                       const json_t *params, struct pleat_error *err)
{
    int64_t run = 0, code = 0, signal = 0, moved = 0;
    bool user_fault = false, broken = false, over_memory = false, lost = false;
    int rc = pleat_get_int(params, "run", true, 0, INT64_MAX, &run, err);
    if (!rc)
        rc = pleat_get_int(params, "code", false, -1, 65535, &code, err);
    if (!rc)
        rc = pleat_get_int(params, "signal", false, 0, 1024, &signal, err);
    if (!rc)
        rc = pleat_get_bool(params, "user_fault", false, &user_fault, err);
    if (!rc)
        rc = pleat_get_bool(params, "broken", false, &broken, err);
    if (!rc)
        rc = pleat_get_bool(params, "over_memory", false, &over_memory, err);
    if (!rc)
        rc = pleat_get_bool(params, "lost", false, &lost, err);
    if (!rc)
        rc = pleat_get_int(params, "moved", false, 0, INT64_MAX, &moved, err);
    if (rc)
        return rc;
    if (moved && !strcmp(method, "exited")) { /* for a resize, in which it goes on elsewhere */
        event->kind = PLEAT_EV_MOVED;
        event->u.change.resize = (uint64_t)moved;
        base->host->emit(base->host->arg, event);
        return 0;
    }
    event->u.exit.run = (uint64_t)run;
    event->u.exit.code = (int32_t)code;
    event->u.exit.signal = (int32_t)signal;
    event->kind = PLEAT_EV_STARTED;
    if (!strcmp(method, "start_failed")) {
        event->kind = PLEAT_EV_START_FAILED;
        event->u.exit.reason = user_fault ? PLEAT_REASON_START_USER : PLEAT_REASON_START_SYSTEM;
    } else if (!strcmp(method, "signalled")) {
        event->kind = PLEAT_EV_SIGNALLED;
    } else if (!strcmp(method, "exited")) {
        event->kind = PLEAT_EV_EXITED;
        event->u.exit.reason = broken        ? PLEAT_REASON_BROKEN
                               : over_memory ? PLEAT_REASON_MEMORY
                               : lost        ? PLEAT_REASON_LOST
                                             : PLEAT_REASON_EXIT;
    }
    base->host->emit(base->host->arg, event);
    return 0;
}

static int notice_change(struct pleat_runner *base, struct pleat_event *event, const char *size,
                         const json_t *params, struct pleat_error *err)
{
    int64_t resize = 0, processors = 0;
    bool from_state = false;
    int rc = pleat_get_int(params, "resize", true, 0, INT64_MAX, &resize, err);
    if (!rc && size)
        rc = pleat_get_int(params, size, true, 0, PLEAT_SIZE_MAX, &processors, err);
    if (!rc)
        rc = pleat_get_bool(params, "from_state", false, &from_state, err);
    if (rc)
        return rc;
    if (event->kind == PLEAT_EV_RELAUNCHED && from_state)
        event->flags = PLEAT_FROM_STATE;
    event->u.change.resize = (uint64_t)resize;
    event->u.change.processors = event->u.change.processes = (int32_t)processors;
    base->host->emit(base->host->arg, event);
    return 0;
}

int pleat_agent_notice(struct pleat_runner *base, uint32_t component, const char *method,
                       const json_t *params, struct pleat_error *err)
{
    static const struct {
        const char *method;
        uint16_t kind;
        const char *size;
    } changes[] = {{"answer", PLEAT_EV_ANSWER, "accepted"},
                   {"applied", PLEAT_EV_APPLIED, "processes"},
                   {"vacated", PLEAT_EV_VACATED, NULL},
                   {"withdrawn", PLEAT_EV_WITHDRAWN, NULL},
                   {"resize_failed", PLEAT_EV_RESIZE_FAILED, NULL},
                   {"relaunched", PLEAT_EV_RELAUNCHED, "processes"}};
    struct pleat_event event = {.component = component};
    if (!strcmp(method, "started") || !strcmp(method, "start_failed") ||
        !strcmp(method, "exited") || !strcmp(method, "signalled"))
        return notice_life(base, &event, method, params, err);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        if (!strcmp(method, changes[i].method)) {
            event.kind = changes[i].kind;
            return notice_change(base, &event, changes[i].size, params, err);
        }
    }
    return pleat_error_set(err, PLEAT_E_PROTOCOL,
                           "an agent sent '%s', which this runner does not know", method);
}

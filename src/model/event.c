#include "model/event.h"

#include <stddef.h>
#include <string.h>

const char *pleat_event_name(unsigned kind)
{
    switch (kind) {
    case PLEAT_EV_POLICY:
        return "policy";
    case PLEAT_EV_PARAMETER:
        return "parameter";
    case PLEAT_EV_SITE:
        return "site";
    case PLEAT_EV_BACKGROUND:
        return "background";
    case PLEAT_EV_SIZES:
        return "sizes";
    case PLEAT_EV_SALVAGED:
        return "salvaged";
    case PLEAT_EV_SUBMIT:
        return "submit";
    case PLEAT_EV_LIMITS:
        return "limits";
    case PLEAT_EV_CANCEL:
        return "cancel";
    case PLEAT_EV_DEMAND:
        return "demand";
    case PLEAT_EV_PIECE:
        return "piece";
    case PLEAT_EV_CLAIMED:
        return "claimed";
    case PLEAT_EV_CLAIM_FAILED:
        return "claim failed";
    case PLEAT_EV_RELEASED:
        return "released";
    case PLEAT_EV_LOST:
        return "lost";
    case PLEAT_EV_AGENT_AWAY:
        return "agent away";
    case PLEAT_EV_AGENT_BACK:
        return "agent back";
    case PLEAT_EV_STARTED:
        return "started";
    case PLEAT_EV_START_FAILED:
        return "start failed";
    case PLEAT_EV_EXITED:
        return "exited";
    case PLEAT_EV_ANSWER:
        return "answer";
    case PLEAT_EV_APPLIED:
        return "applied";
    case PLEAT_EV_VACATED:
        return "vacated";
    case PLEAT_EV_RESIZE_FAILED:
        return "resize failed";
    case PLEAT_EV_WITHDRAWN:
        return "withdrawn";
    case PLEAT_EV_TIME:
        return "time";
    case PLEAT_EV_PASS:
        return "pass";
    case PLEAT_EV_START:
        return "start";
    case PLEAT_EV_RESIZE:
        return "resize";
    case PLEAT_EV_TRIED:
        return "tried";
    case PLEAT_EV_WAKE:
        return "wake";
    case PLEAT_EV_PROMISE:
        return "promise";
    case PLEAT_EV_PREEMPT:
        return "preempt";
    case PLEAT_EV_DEADLINE:
        return "deadline";
    case PLEAT_EV_RESERVE:
        return "reserve";
    case PLEAT_EV_FORGET:
        return "forget";
    case PLEAT_EV_TERMS:
        return "terms";
    case PLEAT_EV_PARTITION:
        return "partition";
    case PLEAT_EV_RELAUNCHED:
        return "relaunched";
    case PLEAT_EV_TIMED:
        return "timed";
    case PLEAT_EV_HISTORY:
        return "history";
    case PLEAT_EV_PROGRESS:
        return "progress";
    case PLEAT_EV_ADD_PROCESS:
        return "add process";
    case PLEAT_EV_STOP_PROCESS:
        return "stop process";
    case PLEAT_EV_BUFFER:
        return "buffer";
    case PLEAT_EV_INPUT:
        return "input";
    case PLEAT_EV_LINK:
        return "link";
    case PLEAT_EV_RETURNED:
        return "returned";
    case PLEAT_EV_STAGED:
        return "staged";
    case PLEAT_EV_STAGE_FAILED:
        return "stage failed";
    case PLEAT_EV_HOLD:
        return "hold";
    case PLEAT_EV_RELEASE:
        return "release";
    case PLEAT_EV_REQUEUE:
        return "requeue";
    case PLEAT_EV_DEPEND:
        return "depend";
    case PLEAT_EV_REVISE:
        return "revise";
    case PLEAT_EV_GROUP:
        return "group";
    default:
        return "?";
    }
}

#define USES(member) sizeof(((struct pleat_event *)0)->u.member)

/* How many bytes of the union an event uses. */
static size_t used(unsigned kind)
{
    switch (kind) {
    case PLEAT_EV_POLICY:
        return USES(policy);
    case PLEAT_EV_PARAMETER:
        return offsetof(struct pleat_event, u.parameter.which) + sizeof(uint32_t) -
               offsetof(struct pleat_event, u);
    case PLEAT_EV_SITE:
    case PLEAT_EV_BACKGROUND:
        return USES(site);
    case PLEAT_EV_SUBMIT:
        return offsetof(struct pleat_event, u.submit.mpl_max) + sizeof(uint8_t) -
               offsetof(struct pleat_event, u);
    case PLEAT_EV_LIMITS:
        return USES(limits);
    case PLEAT_EV_PARTITION:
        return USES(partition);
    case PLEAT_EV_DEMAND:
        return USES(demand);
    case PLEAT_EV_AGENT_BACK:
        return USES(agent);
    case PLEAT_EV_DEADLINE:
    case PLEAT_EV_RESERVE:
    case PLEAT_EV_WAKE:
        return USES(at);
    case PLEAT_EV_PIECE:
        return offsetof(struct pleat_event, u.piece.count) + sizeof(uint32_t) -
               offsetof(struct pleat_event, u);
    case PLEAT_EV_CLAIMED:
    case PLEAT_EV_CLAIM_FAILED:
    case PLEAT_EV_RELEASED:
    case PLEAT_EV_LOST:
        return USES(claim);
    case PLEAT_EV_STARTED:
    case PLEAT_EV_START_FAILED:
    case PLEAT_EV_EXITED:
    case PLEAT_EV_STAGED:
    case PLEAT_EV_STAGE_FAILED:
        return offsetof(struct pleat_event, u.exit.reason) + sizeof(uint32_t) -
               offsetof(struct pleat_event, u);
    case PLEAT_EV_ANSWER:
    case PLEAT_EV_APPLIED:
    case PLEAT_EV_VACATED:
    case PLEAT_EV_RESIZE_FAILED:
    case PLEAT_EV_WITHDRAWN:
    case PLEAT_EV_RELAUNCHED:
        return USES(change);
    case PLEAT_EV_HISTORY:
        return USES(history);
    case PLEAT_EV_PROGRESS:
        return offsetof(struct pleat_event, u.progress.iteration) + sizeof(int32_t) -
               offsetof(struct pleat_event, u);
    case PLEAT_EV_ADD_PROCESS:
    case PLEAT_EV_STOP_PROCESS:
        return offsetof(struct pleat_event, u.process.iteration) + sizeof(int32_t) -
               offsetof(struct pleat_event, u);
    case PLEAT_EV_BUFFER:
        return offsetof(struct pleat_event, u.buffer.release) + sizeof(int32_t) -
               offsetof(struct pleat_event, u);
    case PLEAT_EV_TIMED:
        return offsetof(struct pleat_event, u.timed.processors) + sizeof(int32_t) -
               offsetof(struct pleat_event, u);
    case PLEAT_EV_TERMS:
        return USES(terms);
    case PLEAT_EV_INPUT:
        return USES(input);
    case PLEAT_EV_LINK:
        return USES(link);
    case PLEAT_EV_RETURNED:
        return offsetof(struct pleat_event, u.returned.count) + sizeof(int32_t) -
               offsetof(struct pleat_event, u);
    case PLEAT_EV_SALVAGED:
    case PLEAT_EV_CANCEL:
    case PLEAT_EV_FORGET:
    case PLEAT_EV_TIME:
    case PLEAT_EV_PASS:
    case PLEAT_EV_TRIED:
    case PLEAT_EV_PREEMPT:
    case PLEAT_EV_HOLD:
    case PLEAT_EV_RELEASE:
    case PLEAT_EV_REQUEUE:
        return 0;
    case PLEAT_EV_DEPEND:
        return USES(depend);
    case PLEAT_EV_GROUP:
        return USES(group);
    case PLEAT_EV_REVISE:
        return offsetof(struct pleat_event, u.revise.priority) + sizeof(int16_t) -
               offsetof(struct pleat_event, u);
    case PLEAT_EV_START:
        return USES(start);
    case PLEAT_EV_RESIZE:
        return USES(resize);
    case PLEAT_EV_PROMISE:
        return offsetof(struct pleat_event, u.promise.site) + sizeof(uint32_t) -
               offsetof(struct pleat_event, u);
    default:
        return USES(bytes); /* lists of sizes use all; kinds that are not known might */
    }
}

void pleat_event_clean(struct pleat_event *event)
{
    size_t bytes = used(event->kind);
    memset(event->u.bytes + bytes, 0, sizeof(event->u.bytes) - bytes);
}

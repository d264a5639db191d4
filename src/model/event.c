#include "model/event.h"

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
    case PLEAT_EV_DEADLINE:
        return "deadline";
    case PLEAT_EV_RESERVE:
        return "reserve";
    case PLEAT_EV_FORGET:
        return "forget";
    default:
        return "?";
    }
}

#include "model/types.h"

#include <stddef.h>

#define NAME_OF(table, index)                                                                      \
    ((size_t)(index) < sizeof(table) / sizeof((table)[0]) && (table)[index] ? (table)[index] : "?")

const char *pleat_kind_name(enum pleat_job_kind kind)
{
    static const char *const names[] = {"rigid", "moldable", "malleable"};
    return NAME_OF(names, kind);
}

const char *pleat_component_state_name(enum pleat_component_state state)
{
    static const char *const names[] = {"new",         "queued",  "placed",   "staging in",
                                        "claiming",    "running", "resizing", "finishing",
                                        "staging out", "done",    "failed",   "cancelled"};
    return NAME_OF(names, state);
}

const char *pleat_purpose_name(enum pleat_purpose purpose)
{
    static const char *const names[] = {"run", "growth", "earmark", "buffer"};
    return NAME_OF(names, purpose);
}

const char *pleat_resize_step_name(enum pleat_resize_step step)
{
    static const char *const names[] = {"free",        "offered", "accepted",    "granted",
                                        "withdrawing", "applied", "relaunching", "moving"};
    return NAME_OF(names, step);
}

const char *pleat_outcome_name(enum pleat_outcome outcome)
{
    static const char *const names[] = {
        [PLEAT_OUTCOME_NONE] = "under way",
        [PLEAT_OUTCOME_GROWN] = "grown",
        [PLEAT_OUTCOME_SHRUNK] = "shrunk",
        [PLEAT_OUTCOME_REFUSED] = "refused",
        [PLEAT_OUTCOME_BAD_ANSWER] = "bad answer",
        [PLEAT_OUTCOME_CLAIM_FAILED] = "claim failed",
        [PLEAT_OUTCOME_TIMED_OUT] = "timed out",
        [PLEAT_OUTCOME_APP_FAILED] = "application failed",
        [PLEAT_OUTCOME_STUCK] = "stuck",
        [PLEAT_OUTCOME_NOT_HONOURED] = "not honoured",
        [PLEAT_OUTCOME_JOB_ENDED] = "job ended",
        [PLEAT_OUTCOME_LOST] = "processors lost",
        [PLEAT_OUTCOME_RELAUNCHED] = "relaunched",
        [PLEAT_OUTCOME_NOT_NOW] = "not now",
    };
    return NAME_OF(names, outcome);
}

const char *pleat_reason_name(enum pleat_reason reason)
{
    static const char *const names[] = {
        [PLEAT_REASON_NONE] = "none",
        [PLEAT_REASON_EXIT] = "exited",
        [PLEAT_REASON_CANCELLED] = "cancelled",
        [PLEAT_REASON_START_USER] = "could not be started",
        [PLEAT_REASON_START_SYSTEM] = "the node could not start it",
        [PLEAT_REASON_TRIES] = "too many placement tries",
        [PLEAT_REASON_STUCK] = "stuck in a resize",
        [PLEAT_REASON_NOT_HONOURED] = "mandatory shrink not honoured",
        [PLEAT_REASON_LOST] = "processors lost",
        [PLEAT_REASON_CLAIM_REFUSED] = "claim refused",
        [PLEAT_REASON_CLAIM_CANNOT] = "the site cannot claim this",
        [PLEAT_REASON_CLAIM_FAILED] = "claim failed",
        [PLEAT_REASON_CLAIM_TIMEOUT] = "claim timed out",
        [PLEAT_REASON_TIME_LIMIT] = "time limit reached",
        [PLEAT_REASON_BROKEN] = "broken in a resize",
        [PLEAT_REASON_PREEMPTED] = "preempted",
        [PLEAT_REASON_SIBLING] = "another component failed",
        [PLEAT_REASON_REQUEUED] = "requeued",
        [PLEAT_REASON_DEPENDENCY] = "a job that it waited for ended otherwise",
        [PLEAT_REASON_MEMORY] = "memory limit reached",
        [PLEAT_REASON_TOO_FEW] = "too few processors to begin",
        [PLEAT_REASON_SITE_TIME] = "the time of its processors is over",
        [PLEAT_REASON_TAKEN] = "its site takes processors back",
        [PLEAT_REASON_START_UNKNOWN] = "its agent died: it may have been started",
    };
    return NAME_OF(names, reason);
}

const char *pleat_claim_wait_name(enum pleat_claim_wait wait)
{
    static const char *const names[] = {
        [PLEAT_WAIT_NOT] = "the site has not answered yet",
        [PLEAT_WAIT_RESOURCES] = "others have the processors",
        [PLEAT_WAIT_TURN] = "others in that queue go first",
        [PLEAT_WAIT_LIMIT] = "a limit of its user, account or partition is reached there",
        [PLEAT_WAIT_HELD] = "somebody holds it there",
        [PLEAT_WAIT_DOWN] = "nodes that it needs are down or reserved",
        [PLEAT_WAIT_AGENTS] = "its processors are there, its agents are being started",
        [PLEAT_WAIT_UNREACHED] = "the site cannot be asked now",
        [PLEAT_WAIT_OTHER] = "the site did not say why",
    };
    return NAME_OF(names, wait);
}

const char *pleat_claim_wait_word(enum pleat_claim_wait wait)
{
    static const char *const names[] = {
        [PLEAT_WAIT_NOT] = "none",      [PLEAT_WAIT_RESOURCES] = "resources",
        [PLEAT_WAIT_TURN] = "turn",     [PLEAT_WAIT_LIMIT] = "limit",
        [PLEAT_WAIT_HELD] = "held",     [PLEAT_WAIT_DOWN] = "down",
        [PLEAT_WAIT_AGENTS] = "agents", [PLEAT_WAIT_UNREACHED] = "unreached",
        [PLEAT_WAIT_OTHER] = "other",
    };
    return NAME_OF(names, wait);
}

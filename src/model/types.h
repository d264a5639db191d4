/* types.h - the words of the model: identifiers, states, purposes, reasons. docs/architecture.md
 * explains them; names are those users see (pleat_*_name). */
#ifndef PLEAT_MODEL_TYPES_H
#define PLEAT_MODEL_TYPES_H

#include <stdint.h>

#include "base/error.h"
#include "model/sizes.h"

#define PLEAT_NONE UINT32_MAX /* no such index */
#define PLEAT_NEVER INT64_MAX /* no such time, microseconds */
#define PLEAT_SITES_MAX 1024
#define PLEAT_COMPONENTS_MAX 64 /* of a job */

/* How a job's size is chosen (the classes of Feitelson and Rudolph 1996; Buisson et al. 2007,
 * II-A). A job that evolves is malleable, and asks for processes itself
 * (PLEAT_COMPONENT_EVOLVES). */
enum pleat_job_kind { PLEAT_RIGID, PLEAT_MOLDABLE, PLEAT_MALLEABLE };

/* How long a job runs, as its user classifies it (Utrera 2010, 3.2.1 and 3.6.1.2). */
enum pleat_job_class { PLEAT_CLASS_UNKNOWN, PLEAT_CLASS_SHORT, PLEAT_CLASS_LONG };

/* From SIGTERM to SIGKILL, for the processes of a job that is ended, in seconds. */
#define PLEAT_END_GRACE_S 3

/* States of a component; the one table of transitions is core/transition.c. Staging out belongs to
 * the table; no input leads there. */
enum pleat_component_state {
    PLEAT_NEW, /* not submitted yet: never seen outside the core */
    PLEAT_QUEUED,
    PLEAT_PLACED,
    PLEAT_STAGING_IN,
    PLEAT_CLAIMING, /* its processors are asked for, or are there and its program is being
                     * started */
    PLEAT_RUNNING,
    PLEAT_RESIZING,
    PLEAT_FINISHING, /* it is being ended, or has ended and not all its processors are given back */
    PLEAT_STAGING_OUT,
    PLEAT_DONE,
    PLEAT_FAILED,
    PLEAT_CANCELLED,
    PLEAT_STATE_COUNT
};

static inline int pleat_component_state_is_final(enum pleat_component_state state)
{
    return state >= PLEAT_DONE && state <= PLEAT_CANCELLED;
}

/* What a claim's processors are for. */
enum pleat_purpose {
    PLEAT_FOR_RUN,     /* a component's processes run there */
    PLEAT_FOR_GROWTH,  /* got while the application still computes at its old size */
    PLEAT_FOR_EARMARK, /* taken from a shrunk job for a waiting one, which is the owner */
    PLEAT_FOR_BUFFER,  /* held ready for an application agent (Liu et al. 2009) */
    PLEAT_PURPOSE_COUNT
};

enum pleat_claim_state {
    PLEAT_CLAIM_FREE, /* the record is unused */
    PLEAT_CLAIM_REQUESTED,
    PLEAT_CLAIM_HELD,
    PLEAT_CLAIM_RELEASING
};

/* Steps of a resize. From GRANTED on the application may have been told of the new size. Only
 * applications that decide for themselves are OFFERED one. Only a growth stays ACCEPTED, until the
 * site has claimed its processors: a shrink is GRANTED at once. Only a shrink stays APPLIED, until
 * the processes that leave are gone: a growth is over when it is applied. */
enum pleat_resize_step {
    PLEAT_RESIZE_FREE,
    PLEAT_RESIZE_OFFERED,     /* waiting for the application's answer */
    PLEAT_RESIZE_ACCEPTED,    /* growth: waiting for processors */
    PLEAT_RESIZE_GRANTED,     /* the application was told; it changes at its adaptation point */
    PLEAT_RESIZE_WITHDRAWING, /* being taken back: not applied in time, or put off by its program
                               * ("not now") */
    PLEAT_RESIZE_APPLIED,     /* shrink: the program runs at the new size, the leaving processes are
                               * still there */
    PLEAT_RESIZE_RELAUNCHING, /* it cannot go on: all processes of the job are being ended and
                               * started again */
    PLEAT_RESIZE_MOVING       /* shrink off the node from which it is led: its state is saved, its
                               * processes are gone, and it is being started on another node */
};

/* How a resize ended. Every transaction ends with exactly one of these. */
enum pleat_outcome {
    PLEAT_OUTCOME_NONE,
    PLEAT_OUTCOME_GROWN,
    PLEAT_OUTCOME_SHRUNK,       /* its processes have left; its processors are given back or
                                 * earmarked */
    PLEAT_OUTCOME_REFUSED,      /* the application accepted nothing */
    PLEAT_OUTCOME_BAD_ANSWER,   /* it accepted more than was offered: taken as a refusal */
    PLEAT_OUTCOME_CLAIM_FAILED, /* the site did not give the processors */
    PLEAT_OUTCOME_TIMED_OUT,    /* not answered, claimed or applied in time; rolled back */
    PLEAT_OUTCOME_APP_FAILED,   /* the application tried and could not; its size is unchanged */
    PLEAT_OUTCOME_STUCK,        /* the application did not come out of the resize: the job was
                                 * ended */
    PLEAT_OUTCOME_NOT_HONOURED, /* a mandatory shrink was not applied after notice and grace: the
                                 * job was ended */
    PLEAT_OUTCOME_JOB_ENDED,    /* the job ended meanwhile */
    PLEAT_OUTCOME_LOST,         /* the site took processors away meanwhile */
    PLEAT_OUTCOME_RELAUNCHED,   /* the resize could not go on: the job was ended and started
                                 * again */
    PLEAT_OUTCOME_NOT_NOW,      /* its program said "not now" before it was applied; rolled back */
    PLEAT_OUTCOME_COUNT
};

/* Why a component ended or is being ended, or why a claim failed. */
enum pleat_reason {
    PLEAT_REASON_NONE,
    PLEAT_REASON_EXIT,         /* it ended by itself: exit code or signal */
    PLEAT_REASON_CANCELLED,    /* its user cancelled it */
    PLEAT_REASON_START_USER,   /* could not be started: the user's own fault (no such program) */
    PLEAT_REASON_START_SYSTEM, /* could not be started: the node's fault */
    PLEAT_REASON_TRIES,        /* its placement was tried too often */
    PLEAT_REASON_STUCK,        /* it was stuck in a resize */
    PLEAT_REASON_NOT_HONOURED, /* it did not honour a mandatory shrink */
    PLEAT_REASON_LOST,         /* its processors were taken away by the site, or its node is gone */
    PLEAT_REASON_CLAIM_REFUSED = 10, /* 9 was never given. claim: the site says no for now */
    PLEAT_REASON_CLAIM_CANNOT,       /* claim: the site can never do this */
    PLEAT_REASON_CLAIM_FAILED,       /* claim: something broke */
    PLEAT_REASON_CLAIM_TIMEOUT,
    PLEAT_REASON_TIME_LIMIT, /* it ran as long as its user allowed */
    PLEAT_REASON_BROKEN,     /* EXITED: its processes died in a resize, and a state of it is held */
    PLEAT_REASON_PREEMPTED,  /* preempted for others in front of it: it waits again, at its old
                              * place */
    PLEAT_REASON_SIBLING,    /* another component of its job failed */
    PLEAT_REASON_REQUEUED,   /* its user wants it to wait again */
    PLEAT_REASON_DEPENDENCY, /* it waited for how another job would end, and that ended otherwise */
    PLEAT_REASON_START_UNKNOWN, /* it may have been started: the agent that was told to start it is
                                 * gone */
    PLEAT_REASON_MEMORY,        /* EXITED: it was ended because it used more memory than it may */
    PLEAT_REASON_TOO_FEW,   /* its application cannot begin on so few processors: it waits again,
                             * for more */
    PLEAT_REASON_SITE_TIME, /* its site had lent the processors for a time, which is over */
    PLEAT_REASON_TAKEN,     /* its site takes the processors back, sooner than it had said */
    PLEAT_REASON_COUNT
};

/* Why a claim waits for its site's answer. Numbers in logs: never changed. */
enum pleat_claim_wait {
    PLEAT_WAIT_NOT = 0,       /* the site has said nothing: it answers at once */
    PLEAT_WAIT_RESOURCES = 1, /* others have the processors */
    PLEAT_WAIT_TURN = 2,      /* others in its queue go first */
    PLEAT_WAIT_LIMIT = 3,     /* its user, account or partition has as much as it may have */
    PLEAT_WAIT_HELD = 4,      /* somebody holds it there */
    PLEAT_WAIT_DOWN = 5,      /* nodes or partitions that it needs are down, or reserved */
    PLEAT_WAIT_AGENTS = 6,    /* it was given, and its agents are being started */
    PLEAT_WAIT_UNREACHED = 7, /* the site cannot be asked now */
    PLEAT_WAIT_OTHER = 8,
    PLEAT_WAIT_COUNT
};

/* What has become of a process that an agent has started on a claim. Numbers in logs: never
 * changed. */
enum pleat_gone_reason {
    PLEAT_GONE_STOPPED = 1,     /* its application stopped it */
    PLEAT_GONE_DIED = 2,        /* it ended otherwise */
    PLEAT_GONE_NOT_STARTED = 3, /* its node could not start it, or it did not register in time */
    PLEAT_GONE_UNUSED = 4,      /* there is none, or none any more, as UNPREPARE wanted it */
    PLEAT_GONE_UNFIT = 5,       /* it is not wanted any more, nor can another one be on its node */
    PLEAT_GONE_COUNT
};

/* As the end of a sentence about a claim: "others in that queue go first", ... */
const char *pleat_claim_wait_name(enum pleat_claim_wait wait);
/* One word, for programs: "turn", ... */
const char *pleat_claim_wait_word(enum pleat_claim_wait wait);
const char *pleat_kind_name(enum pleat_job_kind kind);
const char *pleat_component_state_name(enum pleat_component_state state);
const char *pleat_purpose_name(enum pleat_purpose purpose);
const char *pleat_resize_step_name(enum pleat_resize_step step);
const char *pleat_outcome_name(enum pleat_outcome outcome);
const char *pleat_reason_name(enum pleat_reason reason);

#endif

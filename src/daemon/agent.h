/* agent.h - one agent, as the files that speak to it see it:
 *
 *   agents.c         connected, listened to, told to end
 *   agent_notices.c  what it says of runs
 *   agent_runs.c     what it runs against what the core knows; what it refused
 *   agent_link.c     requests to it
 *   agent_start.c    started when needed, expected, ended where it is silent
 *
 * Each may call those below it.
 */
#ifndef PLEAT_DAEMON_AGENT_H
#define PLEAT_DAEMON_AGENT_H

#include <uv.h>

#include "daemon/daemon.h"
#include "wire/connection.h"

/* Whether one lives is looked at so often. */
enum { AGENT_LOOK_MS = 100 };

/* A request not answered yet. */
struct asked {
    int64_t id;
    uint64_t run, resize;
    char method[12];
};

PLEAT_ARRAY(asked_list, struct asked);

struct agent {
    struct daemon *daemon;
    struct agent *next;
    uint32_t site, node;
    struct pleat_connection *connection; /* NULL: not there (yet) */
    bool listed;                         /* it has said what it runs */
    bool settled;                        /* it, or one before it, has said that to this pleatd */
    bool started;                        /* one was started, and has not connected yet */
    int looks;                           /* for one that is expected to call */
    int64_t ping_id;                     /* 0: nothing is waited for */
    int silent_s;                        /* seconds, as far as pleatd saw them, without an answer */
    bool said_silent;                    /* of that */
    int since_ping_s;
    int failures;            /* in a row: ended, or not started, before it called */
    uint64_t number;         /* which one is connected */
    uv_process_t *process;   /* the last one that was started here; NULL: it ended */
    struct asked_list asked; /* what was sent and is not answered */
    int64_t next_id, list_id;
    json_t *runs;     /* the pages of its list that have come */
    char *cpus;       /* of its slots, as it said; NULL: it did not */
    json_t *features; /* what it knows that not every agent does, as it said; NULL: nothing */
    uv_timer_t timer; /* until it must have connected */
};

/* ---- agent_link.c ---- */

/* The one of a node; made where it is not known yet. NULL when out of memory. */
struct agent *agent_get(struct daemon *d, uint32_t site, uint32_t node);
/* What was asked with that number, which is answered now; zero where it need not be known. */
struct asked agent_take_asked(struct agent *agent, int64_t id);

/* ---- agent_start.c ---- */

/* Its timer, not running. */
void agent_start_init(struct agent *agent);
/* Sees that there is one, or will be. */
void agent_want(struct agent *agent);
/* The one that there was will call again, or is dead, and then another is needed. */
void agent_expect(struct agent *agent);
/* It lives. */
void agent_heard(struct agent *agent);
/* A second has gone by, in which pleatd was not stopped: else there were fewer of these. */
void agent_look(struct agent *agent);

/* ---- agent_runs.c ---- */

/* Asks for all that it runs; agent_runs_listed has the answers, a page each. */
void agent_runs_ask(struct agent *agent, int64_t after);
void agent_runs_listed(struct agent *agent, const json_t *result);
/* A request that can fail for good: the core must hear of it, or it would wait for its deadlines.
 */
void agent_refused(struct agent *agent, const struct asked *asked, const struct pleat_error *why);

/* ---- agent_notices.c ---- */

void agent_notice(struct agent *agent, const struct pleat_message *message);

#endif

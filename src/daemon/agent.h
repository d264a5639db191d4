/* agent.h - what pleatd knows of one agent, for the files that speak to it:
 *
 *   agents.c         accepts its connection, dispatches its messages, tells it to end
 *   agent_notices.c  its notices about runs
 *   agent_runs.c     compares the runs that it lists with the core's; requests that it refused
 *   agent_link.c     requests to it
 *   agent_start.c    starts it when needed, waits for its call, kills it when it is silent
 *   agent_call.c     how a site starts it
 *
 * Each file may call those below it.
 */
#ifndef PLEAT_DAEMON_AGENT_H
#define PLEAT_DAEMON_AGENT_H

#include <uv.h>

#include "daemon/daemon.h"
#include "wire/connection.h"

/* Interval at which pleatd looks for an agent that has not connected. */
enum { AGENT_LOOK_MS = 100 };

/* A request to an agent that the agent has not answered yet. */
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
    struct pleat_connection *connection; /* NULL: not connected */
    bool listed;                         /* the connected agent has said what it runs */
    bool settled;     /* an agent of this node has said what it runs since this pleatd started */
    bool started;     /* a process was started for it that has not connected yet */
    int looks;        /* looks for an agent that is expected to call, AGENT_LOOK_MS apart */
    int64_t ping_id;  /* number of the ping that is not answered; 0: none */
    int silent_s;     /* seconds without an answer, in which pleatd itself was not stopped */
    bool apart;       /* its host has another file system: runs there have only the files that are
                       * sent */
    bool said_apart;  /* users were told that it is apart */
    bool unheard;     /* output of its runs could not be written, and is asked for again */
    bool said_silent; /* users were told that it is silent */
    bool quits;       /* it was told to end */
    bool leaves;      /* it says that others told it to end: nothing is started there until the next
                       * agent is there */
    bool gone;        /* its node is gone, too: nothing of what it ran is left */
    bool unwanted;    /* its node is gone, but it lives: it is told to end when it calls */
    bool away;        /* the core takes it for away, since it is connected and does not answer */
    int since_ping_s;
    int failures; /* processes in a row that ended, or could not be started, before one connected */
    uint64_t number;         /* identifies the connected process among all agents of this node */
    uv_process_t *process;   /* the process that this pleatd started last; NULL: it has ended */
    struct asked_list asked; /* requests sent and not answered */
    int64_t next_id, list_id;
    json_t *runs; /* pages of its list of runs that have come so far */
    char *cpus;   /* CPUs of its slots, as it says; NULL: it did not say */
    char *shared; /* directory for files in its shared memory, as it says; NULL: it did not say */
    char *mark;   /* at the end of names of its scratch directories; NULL: none */
    char *host;   /* name of its host, as it says; NULL: it did not say */
    /* The interface of its host by which it is connected over TCP, and the network there as
     * "10.0.0.0/8"; "": not known */
    char interface[16], network[24];
    uint32_t architecture; /* of its host (model/architecture.h); 0: not known */
    bool confined;         /* its processes cannot use CPUs that it may not use itself */
    bool fabric;           /* its host has devices for remote memory access */
    json_t *features;      /* features (wire/message.h) that it says it has; NULL: none */
    uv_timer_t timer;      /* runs out when it must have connected */
};

/* ---- agent_link.c ---- */

/* The agent of a node, created if it is not known yet. NULL when out of memory. */
struct agent *agent_get(struct daemon *d, uint32_t site, uint32_t node);
/* The agent of the node that leads a run; NULL: the run's component is at no site. */
struct agent *agent_of_run(struct daemon *d, const struct active_run *run);
/* Takes the request with number `id`, which is answered now, off `asked`. Zeroed if the request was
 * not remembered, since nobody has to know of its failure. */
struct asked agent_take_asked(struct agent *agent, int64_t id);

/* ---- agent_start.c ---- */

/* Tells the core that the agent is there, and which one it is. */
void agent_tell_back(struct agent *agent);

/* Initializes the agent's timer, not running. */
void agent_start_init(struct agent *agent);
/* Makes sure that an agent is connected, is waited for, or is being started. */
void agent_want(struct agent *agent);
/* Waits for the call of an agent that was there before; if it turns out to be dead, starts another.
 * Where the site brings its agents, it is the site that waits, and says that the node is gone. */
void agent_expect(struct agent *agent);
/* Something came from the agent: it is not silent. */
void agent_heard(struct agent *agent);
/* The agent says that it is ending: all that is to be done on its node waits for the next agent. */
void agent_leaves(struct agent *agent);
/* Asks the agent for a sign of life, unless an earlier ping is still not answered. */
void agent_ping(struct agent *agent);
/* Whether the agent has not answered for some seconds. */
bool agent_is_silent(const struct agent *agent);
/* To be called once for every second that went by. Seconds in which pleatd was stopped do not
 * count, since the agent could not answer then. */
void agent_look(struct agent *agent);

/* ---- agent_runs.c ---- */

/* Asks the agent for all runs that it has, above the number `after`. agent_runs_listed takes the
 * answers, a page each. */
void agent_runs_ask(struct agent *agent, int64_t after);
void agent_runs_listed(struct agent *agent, const json_t *result);
/* The agent's node is gone: all that it ran is lost. */
void agent_runs_gone(struct agent *agent);
/* The agent refused a request for good. The core must hear of that, or it would wait until its
 * deadlines. */
void agent_refused(struct agent *agent, const struct asked *asked, const struct pleat_error *why);

/* ---- agent_notices.c ---- */

void agent_notice(struct agent *agent, const struct pleat_message *message);
/* Takes the ends of runs that are not held back any more (parts_exit.h). */
void agent_exits(struct daemon *d);

#endif

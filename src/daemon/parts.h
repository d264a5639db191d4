/* parts.h - the parts of runs on other nodes than the one that leads them.
 *
 * A run's MPI launcher wants a command on another node. Its agent tells pleatd that
 * (`part_wanted`), pleatd has the other node's agent start the command, and tells the first agent
 * what becomes of it. Agents do not speak with one another, and no path of one is used for another.
 *
 * A part that is lost, or that a signal ended, ends the run, which has then ended by no fault of
 * its user's. The end of a run is held back here until nothing of it is left on its other nodes:
 * only then its processors are given back. All of this is in memory only: a pleatd that starts
 * learns it from the lists of the agents on both sides. */
#ifndef PLEAT_DAEMON_PARTS_H
#define PLEAT_DAEMON_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "daemon/parts_change.h"

struct agent;
struct asked;
struct daemon;

enum part_state {
    PART_WANTED, /* the launcher wants it; its node's agent was not asked yet */
    PART_SENT,   /* its node's agent was asked to start it */
    PART_STARTED,
    PART_ENDED
};

/* Which processes of the run a part has, as the agent that leads says. While new processes are
 * started and the old ones still compute, a run has two generations. */
enum part_role {
    PART_NOW, /* the processes that are the run */
    PART_NEW, /* new processes, which wait: nothing that happens to them affects the run */
    PART_OLD, /* old processes, which are leaving: likewise */
    /* a process of a run whose processes ask for more (parts_process.h): likewise; on its node
     * there may be any number of them */
    PART_PROCESS
};

struct part {
    uint64_t run;
    uint32_t number; /* in the run */
    uint64_t there;  /* the number of the run that it is on its agent (parts_run_of); 0: none yet */
    uint32_t site, node;
    enum part_state state;
    enum part_role role;
    bool told_to_end; /* its agent was told to end it */
    bool failed;      /* it was lost, or ended by a signal that was not Pleat's */
    bool over_memory; /* it was ended because it wanted more memory than its limit */
    bool left;        /* PART_ENDED: the run has left its node, where nothing is kept */
    bool state_lost;  /* PART_ENDED: its agent does not have it any more, nor what it kept of the
                       * run's state for the next part there */
    bool has_state;   /* its agent keeps what the node has of the run's state, for the next one */
    bool forgotten;   /* its agent was told to forget it */
    bool spoiled;     /* it ended badly, and the run was ended for that (parts_exit.h) */
    int64_t bad_us;   /* when it ended badly by itself, of the daemon's time; 0: it did not */
    bool stopped;     /* its agent holds back what it writes for now (parts_output.h) */
    json_t *wish;     /* the launcher's request; NULL: it was started before this pleatd */
    json_t *end;      /* what its launcher is told; PART_ENDED */
    int64_t cpu_us, max_rss_kb, memory_kb; /* PART_ENDED */
};
PLEAT_ARRAY(part_list, struct part);

/* The end of a run, as its agent told it. */
struct pending_exit {
    uint64_t run;
    json_t *params;
    int64_t until_us; /* held back at least until then, in the daemon's time */
};
PLEAT_ARRAY(pending_exits, struct pending_exit);

struct parts {
    struct part_list items;
    struct pending_exits exits;
    struct run_changes changes; /* the last resize of each run that is folded on several nodes */
};

/* NULL: that part of the run is not known. */
struct part *parts_find(struct daemon *d, uint64_t run, uint32_t number);
/* The last part of the run on that node; but one that is there, before one that waits for it to
 * end. NULL: none is known. */
struct part *parts_find_on(struct daemon *d, uint64_t run, uint32_t site, uint32_t node);

/* The run to which belongs what an agent has under that number, be it a part or the run itself. */
uint64_t parts_run_of(uint64_t there);
/* The part that an agent has under that number; NULL: none is known. */
struct part *parts_find_there(const struct agent *agent, uint64_t there);

/* Whether another one is, or was, the run's on its node after it. */
bool parts_is_followed(struct daemon *d, const struct part *part);

/* The notices `part_wanted` and `part_unwanted` of the agent that leads the run. */
void parts_wanted(struct agent *agent, uint32_t component, const json_t *params);
void parts_unwanted(struct agent *agent, uint32_t component, const json_t *params);
/* The notices `process_said` of the agent of a process, and `process_told` of that which leads. */
void parts_process_said(struct agent *agent, uint32_t component, const json_t *params);
void parts_process_told(struct agent *agent, const json_t *params);
/* The notices `part_order` and `part_left` of that agent. */
void parts_order(struct agent *agent, const json_t *params);
void parts_left(struct agent *agent, const json_t *params);
/* The notice `part_role` of that agent. */
void parts_role(struct agent *agent, const json_t *params);
/* The notice `part_said` of another node's agent, for the one that leads. */
void parts_said(struct agent *agent, uint32_t component, const json_t *params);
/* Processors of runs were given back: a run that has none on a node any more has left it. Its part
 * there has no process, though its agent may not have told that yet, or never will. */
void parts_released(struct daemon *d);
/* A notice of another node's agent about a run. */
void parts_notice(struct agent *agent, uint32_t component, const char *method,
                  const json_t *params);
/* That agent refused a request about a run. */
void parts_refused(struct agent *agent, const struct asked *asked, const struct pleat_error *why);
/* An agent has listed what it runs (agent->runs), also what belongs to runs that others lead. */
void parts_listed(struct agent *agent);
/* Whether a part of a run that another node leads is, or may be, on this node. */
bool parts_are_on(struct daemon *d, uint32_t site, uint32_t node);
/* Whether processes of a run are on other nodes than the one that leads it. */
bool parts_has(const struct daemon *d, uint64_t run);
/* Whether the agent leads no run of that component, but has, or had, a part of it. */
bool parts_is_other(const struct agent *agent, uint32_t component);

/* Ends a run that cannot go on without this part, which has ended. */
void parts_end_run(struct daemon *d, const struct part *part);

/* The end of a run that is held back (parts_exit.h); NULL: it is not. */
struct pending_exit *parts_pending_exit(struct daemon *d, uint64_t run);
/* Ends what is left of a run on its other nodes, as far as is known. True: nothing is left. */
bool parts_end_rest(struct daemon *d, uint64_t run);

/* Under which number the agent of a node has what it keeps of the run's state, which has no process
 * left; 0: it keeps nothing, or not all. *last: the highest number of a part of the run. */
uint64_t parts_kept_on(struct daemon *d, uint64_t run, uint32_t site, uint32_t node,
                       uint32_t *last);
/* The agent of a node has led the run, which is led from another one now. */
void parts_forget_lead(struct daemon *d, uint32_t site, uint32_t node, uint64_t run);
/* The agent leads the run, and has taken what a part of it had kept there. */
void parts_led_here(struct agent *agent, uint64_t run);
/* Sends a signal to the processes of a run's parts. */
void parts_signal(struct daemon *d, uint64_t run, int32_t number);
/* The log says that the run is over. */
void parts_forget(struct daemon *d, uint64_t run);
void parts_finish(struct daemon *d);

#endif

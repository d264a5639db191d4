/* runner.h - the interface of runners: how a kind of application is started, resized, ended.
 *
 * As with sites (site/site.h), a call only accepts a request; the result comes as an event:
 *   start    -> STARTED | START_FAILED (reason); later EXITED once, whatever happened
 *   ask      -> ANSWER (processors)
 *   resize   -> APPLIED (processors), after a shrink then VACATED; or RESIZE_FAILED
 *   withdraw -> WITHDRAWN, or the result of the resize if it happens all the same
 *   kill     -> EXITED
 *   signal   -> SIGNALLED; a run gets one such signal, however often it is asked for
 *   relaunch -> RELAUNCHED, when all old processes are gone and new ones were started;
 *               or START_FAILED (reason), or EXITED
 *
 * If processes die during a resize and there is a saved state to go on from, EXITED has the reason
 * PLEAT_REASON_BROKEN. The run can then still be relaunched, or killed: then EXITED comes again.
 * Once a relaunch is accepted, the old processes do not answer any earlier resize any more.
 * Repeated calls with the same run (and resize) change nothing, and are answered again.
 * tests/conformance/runner.c runs over every runner.
 */
#ifndef PLEAT_RUNNER_RUNNER_H
#define PLEAT_RUNNER_RUNNER_H

#include <jansson.h>

#include "model/host.h"
#include "model/occasion.h"
#include "model/runner_kind.h"
#include "model/spec.h"

/* How runners reach the agents of nodes. Never blocks. */
struct pleat_agent_link {
    void *arg;
    /* Sends a request to the agent of a node (docs/protocol.md), and steals params. If the node has
     * no agent, one is started, and the core repeats what it still wants. The agent's notices come
     * back through the runner's `notice`; an error reply becomes START_FAILED, RESIZE_FAILED or
     * EXITED without it. */
    int (*send)(void *arg, uint32_t site, uint32_t node, const char *method, json_t *params,
                struct pleat_error *err);
};

/* Slots of a node, `count` from `first` on. */
struct pleat_slot_range {
    uint32_t first, count;
};

/* A node of a run that has several, in the order of ranks. */
struct pleat_run_node {
    uint32_t node;
    int32_t processors; /* the run's processors there */
    int32_t processes;  /* its processes there; as many, unless it folds */
    char name[64];      /* as MPI launchers know it */
};

struct pleat_run_order {
    uint64_t run;
    uint32_t component;
    uint64_t job;
    uint32_t site, node; /* node: where the run's first process is */
    int32_t processes;
    int32_t processors; /* processors of its partition; equal to processes, unless it folds */
    const struct pleat_slot_range *slots; /* its slots on that node, in the order of ranks */
    size_t slot_ranges;                   /* number of `slots`; 0: it is not bound to CPUs */
    /* further CPUs of that host, of a run that folds: more_count of them */
    const uint32_t *more_cpus;
    size_t more_count;
    const struct pleat_run_node *nodes; /* all its nodes, the one that leads it first */
    size_t node_count;                  /* 0: it has one */
    bool one_machine;                   /* they are all of one machine */
    /* of several machines: the interface by which they reach one another, the network of it; "":
     * not known. fabric: they may have a faster one (struct pleat_launch_request) */
    const char *interface, *network;
    bool fabric;
    int32_t most; /* the largest number of processes that the run may ever have */
    const struct pleat_spec *spec;
    const char *program;    /* executed instead of the spec's argv[0]; NULL: argv[0] */
    const char *from;       /* the checkpoint that it goes on from; NULL: as the spec says */
    const char *stdin_path; /* NULL: no input */
    bool stdin_sent;        /* the input is sent to the agent instead, while the run goes on */
    /* its terminal is of another host than its node: the agent makes one of this size for it, what
     * is typed there is its input, which is sent, and so is its output */
    bool terminal_far;
    uint16_t rows, columns;
    bool roams; /* its processes may be on other nodes, too (PLEAT_COMPONENT_ROAMS) */
    const char *stdout_path, *stderr_path;
    /* the node does not see the files of this machine: output is sent to the daemon, the script
     * (`program`, in `scratch`) comes with the order, and the run is in its scratch directory */
    bool apart;
    bool nodes_apart; /* one of its nodes, at least, is so: they have no directory in common */
    bool truncate;    /* existing output files are emptied first */
    bool at_once;     /* kill: without SIGTERM before */
    /* start: the run goes on here, which another node has led: its state is what the part of that
     * number has kept here. 0: it is started anew */
    uint64_t before;
    uint32_t last_part;           /* the highest number that a part of the run has */
    uint64_t resize;              /* the resize for which it left that node, when it had */
    int32_t from_processors;      /* so many, */
    enum pleat_occasion occasion; /* and what that was for */
    /* directory of this run alone, made and removed by the agent; NULL: none */
    const char *scratch;
};

struct pleat_change_order {
    uint64_t run, resize;
    uint32_t component;
    uint32_t site, node;
    int32_t from, processes; /* processes: at the new size */
    int32_t processors;      /* at the new size; equal to processes, unless it folds */
    bool mandatory;
    enum pleat_occasion occasion;
    /* resize: PLEAT_WAY_RELAUNCH: by a warm relaunch, and otherwise, where that cannot be, by
     * merging; else as the spec says */
    enum pleat_resize_way way;
    bool spread; /* the run is on several nodes, or will be: it is started again, */
    /* resize: the run leaves its node. The agent there has the state saved on the nodes of `start`,
     * and ends the run */
    bool moves;
    bool warm; /* then: new processes are started first, where possible */
    bool anew; /* resize: the program has not begun, so nothing is lost by starting it again */
    const struct pleat_run_order *start; /* how to start it at that size; NULL: unknown */
};

/* How many of a folded run's processes are on `count` of its processors, of which `before` come
 * first: each processor has as many as any other, or one more. */
static inline int32_t pleat_run_share(int32_t processes, int32_t processors, int32_t before,
                                      int32_t count)
{
    int32_t each = processes / processors, more = processes % processors - before;
    return each * count + (more < 0 ? 0 : more < count ? more : count);
}

/* The member "fold" of `start`: how the agent of a node folds so many processes of a run. NULL: err
 * says why. */
json_t *pleat_runner_fold(const struct pleat_spec *spec, int32_t processes,
                          struct pleat_error *err);

/* Whether Pleat chooses between merging and a warm relaunch for a program, by their cost: its user
 * leaves that open, and it can be started beside itself. */
bool pleat_runner_chooses_way(const struct pleat_spec *spec);

struct pleat_runner {
    const struct pleat_runner_ops *ops;
    const struct pleat_host *host;
    const struct pleat_agent_link *agents;
};

struct pleat_runner_ops {
    const char *name;
    unsigned capabilities;
    int (*start)(struct pleat_runner *runner, const struct pleat_run_order *order,
                 struct pleat_error *err);
    int (*ask)(struct pleat_runner *runner, const struct pleat_change_order *order,
               struct pleat_error *err);
    int (*resize)(struct pleat_runner *runner, const struct pleat_change_order *order,
                  struct pleat_error *err);
    int (*withdraw)(struct pleat_runner *runner, const struct pleat_change_order *order,
                    struct pleat_error *err);
    int (*kill)(struct pleat_runner *runner, const struct pleat_run_order *order,
                struct pleat_error *err);
    /* Sends a signal to the run's processes, or only to its script. MPI launchers get none. */
    int (*signal)(struct pleat_runner *runner, const struct pleat_run_order *order, int32_t number,
                  bool script_only, struct pleat_error *err);
    /* Ends what is left of order->run, whatever it is doing, and starts order->start from the saved
     * state, or from the beginning if there is none. NULL: the runner cannot do that. */
    int (*relaunch)(struct pleat_runner *runner, const struct pleat_change_order *order,
                    struct pleat_error *err);
    /* Handles an agent's notice about one of this runner's runs. PLEAT_E_PROTOCOL: it makes no
     * sense; no event is emitted then. */
    int (*notice)(struct pleat_runner *runner, uint32_t component, const char *method,
                  const json_t *params, struct pleat_error *err);
    void (*close)(struct pleat_runner *runner);
};

/* Makes a runner by its name (model/runners.def). host and agents are borrowed until close.
 * PLEAT_E_NOTFOUND, PLEAT_E_NOMEM. */
int pleat_runner_open(const char *name, const struct pleat_host *host,
                      const struct pleat_agent_link *agents, struct pleat_runner **runner,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

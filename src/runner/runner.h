/* runner.h - the seam to how a kind of application lives: how to start it, resize it, end it.
 *
 * As with sites (site/site.h), a call only accepts; what comes of it arrives as an event:
 *   start    -> STARTED | START_FAILED(reason)      later EXITED, once, whatever happened
 *   ask      -> ANSWER(processors)
 *   resize   -> APPLIED(processors), after a shrink then VACATED | RESIZE_FAILED
 *   withdraw -> WITHDRAWN, or what the resize gives after all
 *   kill     -> EXITED
 *   signal   -> SIGNALLED; the processes of one run get one such signal, however often it is asked
 * for relaunch -> RELAUNCHED, when all processes of before are gone and new ones were started |
 *               START_FAILED(reason) | EXITED
 *
 * Where processes die inside a resize and a state of the application is held from which it can go
 * on, EXITED has the reason PLEAT_REASON_BROKEN, and the run can still be relaunched, or killed:
 * then EXITED comes again. After a relaunch was accepted no answer to a resize comes any more that
 * the old processes had not given before.
 * Repeated calls with the same run (and resize) change nothing, and are answered again.
 * tests/conformance/runner.c runs over every runner.
 */
#ifndef PLEAT_RUNNER_RUNNER_H
#define PLEAT_RUNNER_RUNNER_H

#include <jansson.h>

#include "model/host.h"
#include "model/runner_kind.h"
#include "model/spec.h"

/* How runners reach the agents of nodes; asynchronous, too. */
struct pleat_agent_link {
    void *arg;
    /* Sends a request to the agent of a node (docs/protocol.md). params is stolen. A node without
     * agent gets one first. What the agent notifies of comes back through `notice` of the runner;
     * an error reply as a notice "start_failed" or "resize_failed". */
    int (*send)(void *arg, uint32_t site, uint32_t node, const char *method, json_t *params,
                struct pleat_error *err);
};

/* Slots of a node, `count` from `first` on. */
struct pleat_slot_range {
    uint32_t first, count;
};

struct pleat_run_order {
    uint64_t run;
    uint32_t component;
    uint64_t job;
    uint32_t site, node; /* the node where its first process runs */
    int32_t processes;
    int32_t processors; /* of its partition; as many as processes, unless it folds */
    const struct pleat_slot_range *slots; /* of that node, in the order of ranks */
    size_t slot_ranges;                   /* 0: it is not bound to its processors */
    int32_t most;                         /* the largest size that it may ever have */
    const struct pleat_spec *spec;
    const char *program;    /* executed instead of the spec's argv[0]; NULL: that one */
    const char *stdin_path; /* NULL: no input */
    const char *stdout_path, *stderr_path;
    bool truncate;       /* output files that exist are emptied first */
    bool at_once;        /* kill: without SIGTERM before */
    const char *scratch; /* of this run alone; made and removed by the agent */
};

struct pleat_change_order {
    uint64_t run, resize;
    uint32_t component;
    uint32_t site, node;
    int32_t from, processes; /* the size aimed at */
    int32_t processors;      /* likewise; as many as processes, unless it folds */
    bool mandatory;
    const struct pleat_run_order *start; /* how it would be started at that size; NULL: unknown */
};

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
    /* Sends its processes, or those of its script alone, a signal. Launchers get none. */
    int (*signal)(struct pleat_runner *runner, const struct pleat_run_order *order, int32_t number,
                  bool script_only, struct pleat_error *err);
    /* Ends what is left of order->run, whatever it is doing, and starts order->start from the state
     * that is held, or from the beginning where none is. NULL: it cannot. */
    int (*relaunch)(struct pleat_runner *runner, const struct pleat_change_order *order,
                    struct pleat_error *err);
    /* A notification of an agent about one of this runner's runs. PLEAT_E_PROTOCOL when it makes no
     * sense; nothing is emitted then. */
    int (*notice)(struct pleat_runner *runner, uint32_t component, const char *method,
                  const json_t *params, struct pleat_error *err);
    void (*close)(struct pleat_runner *runner);
};

/* A runner by name (model/runners.def); PLEAT_E_NOTFOUND. host and agents are borrowed
 * until close. */
int pleat_runner_open(const char *name, const struct pleat_host *host,
                      const struct pleat_agent_link *agents, struct pleat_runner **runner,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

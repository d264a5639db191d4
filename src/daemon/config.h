/* config.h - pleat.conf: what the daemon offers and how it decides. docs/admin-guide.md lists every
 * key with its default; a test checks that. */
#ifndef PLEAT_DAEMON_CONFIG_H
#define PLEAT_DAEMON_CONFIG_H

#include "core/core.h"
#include "site/site.h"

/* Where a site comes from. */
enum pleat_site_from {
    PLEAT_FROM_DEFAULT, /* pleat.conf has no site: this machine */
    PLEAT_FROM_FILE,    /* pleat.conf */
    PLEAT_FROM_COMMAND  /* pleat site add */
};

struct pleat_config_site {
    char *name;
    char
        *block; /* what was written about it, as a block of pleat.conf; NULL: a site that is gone */
    enum pleat_site_from from;
    bool returns; /* the site was leaving, and pleat.conf has it again: it is to be resumed */
    bool leaving; /* the site is gone as soon as it has no jobs any more */
    bool gone;    /* only its name and its index in the core are left: it has no nodes here, ... */
    const struct pleat_site_ops *ops; /* its kind */
    int32_t processors;               /* 0: all that it has */
    int32_t threshold;
    int64_t poll_us;             /* time between two looks at what others use of it */
    void *own;                   /* options of its kind, see site/option.h */
    struct pleat_site_here here; /* what the site hands out of this machine */
    bool shares_time;    /* a job is bound to all CPUs of the site, not to those of its own slots */
    struct json_t *shut; /* names of nodes of its batch system that its user drains; NULL: none */
    bool brings_agents;  /* it starts its agents itself: pleatd starts none for it */
    bool cpusets;        /* use cpusets where the machine has them */
    char *interface;     /* the interface by which MPI speaks between its nodes' machines; NULL: it
                          * is found out */
    bool memory_groups;  /* use control groups for limits of memory, where the machine has them */
};

struct pleat_config {
    char *path; /* the file that was read; NULL: none, all are defaults */
    const struct pleat_policy *policies[PLEAT_QUESTION_COUNT];
    int64_t parameters[PLEAT_PARAM_COUNT]; /* durations in microseconds, or counts, as in
                                              model/parameters.def */
    struct pleat_config_site *sites; /* at least one; while pleatd runs by their index in the core,
                                      * with those that are gone */
    size_t site_count;
    int64_t notify_limit_us; /* the command of a job's --notify is killed after this time */
    int64_t agent_answer_us; /* an agent that is silent for this long is killed; 0: never */
    int64_t keep_ended_us;   /* for how long after its end core and daemon keep a job in memory */
    int64_t checkpoint_records; /* least number of records between two checkpoints */
    char *agent_listen;      /* number of the interface at which agents call over TCP, or "auto" */
    int32_t agent_port;      /* 0: any */
    char *agent_host;        /* the name under which agents reach this machine, or "auto" */
    int64_t agent_orphan_us; /* such an agent without pleatd ends its jobs after this; 0: never */
    int64_t idle_exit_us;    /* pleatd ends when there was nothing to do for this long; 0: never */
};

/* Reads a file; NULL gives the defaults: site "local" with this machine's processors. Errors name
 * file and line, and what is allowed there. Release with pleat_config_finish. */
int pleat_config_load(const char *path, struct pleat_config *config,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether a parameter has an effect in a daemon. The others are about what only the simulator can
 * do yet, and are refused. */
bool pleat_config_parameter_is_live(uint32_t parameter);
void pleat_config_finish(struct pleat_config *config);

#endif

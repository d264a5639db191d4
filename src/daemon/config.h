/* config.h - pleat.conf: what the daemon offers and how it decides. docs/admin-guide.md lists every
 * key with its default; a test checks that. */
#ifndef PLEAT_DAEMON_CONFIG_H
#define PLEAT_DAEMON_CONFIG_H

#include "core/core.h"

struct pleat_config_site {
    char *name;
    char *kind;         /* "local" */
    int32_t processors; /* 0: as many as there are */
    int32_t threshold;
    int background;     /* 1 measure, 0 ignore, -1 measure unless oversubscribed */
    char *cpus;         /* which its slots are, one after the other; NULL: not said */
    bool shares_time;   /* jobs are bound to all of them together, not each to its own */
    bool cpusets;       /* used where the machine has them */
    bool memory_groups; /* likewise, for limits of memory */
};

struct pleat_config {
    char *path; /* the file read, or NULL: defaults */
    const struct pleat_policy *policies[PLEAT_QUESTION_COUNT];
    int64_t parameters[PLEAT_PARAM_COUNT]; /* microseconds or numbers, as in model/event.h */
    struct pleat_config_site *sites;       /* at least one */
    size_t site_count;
    int64_t notify_limit_us;    /* a job's notification is ended after that */
    int64_t agent_answer_us;    /* an agent silent for so long is ended; 0: never */
    int64_t keep_ended_us;      /* so long after its end a job is known to core and daemon */
    int64_t checkpoint_records; /* so many records after one there may be another */
    int64_t idle_exit_us;       /* ends when nothing was there to do for so long; 0: never */
};

/* Reads a file; NULL gives the defaults: site "local" with this machine's processors. Errors name
 * file and line, and what is allowed there. */
int pleat_config_load(const char *path, struct pleat_config *config,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Can that policy be in force in a daemon? The others need what nothing that it runs can do yet. */
bool pleat_config_is_live(const struct pleat_policy *policy);
/* Has a daemon any use for it? The other parameters are about what only the simulator can do yet,
 * and are refused. */
bool pleat_config_parameter_is_live(uint32_t parameter);
void pleat_config_finish(struct pleat_config *config);

#endif

/* operations.h - what an adapter program (pleat-slurm, pleat-gridengine) asks of a cluster with a
 * batch system: a table of operations, and a table with what else is special about that system.
 *
 * All operations block, so they are called from a thread that does nothing else, one at a time.
 * They give JSON as the protocol has it (docs/protocol.md, "Adapters"). They return 0 or
 *   PLEAT_E_CLOSED it cannot be reached, or does not answer: it is not known whether it has done
 *   what was asked
 *   PLEAT_E_BUSY        not now: no room, a limit is reached
 *   PLEAT_E_INVALID     never: there is no such partition, no node is so large
 *   PLEAT_E_PERMISSION  this user may not
 *   PLEAT_E_NOTFOUND    there is no such job
 *   PLEAT_E_SYSTEM, PLEAT_E_PROTOCOL  anything else, and an answer that makes no sense
 * and what they fill in then is of no use. Texts from the batch system are data: they are never
 * read by a shell.
 */
#ifndef PLEAT_ADAPTER_OPERATIONS_H
#define PLEAT_ADAPTER_OPERATIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

enum {
    PLEAT_ADAPTER_NAME_MAX = 128,     /* bytes of a job's name, without its NUL */
    PLEAT_ADAPTER_WITHOUT_MAX = 8000, /* bytes of a list of nodes, without its NUL */
    PLEAT_ADAPTER_TEXTS = 8 /* values that one batch system has, and others do not, at most */
};
#define PLEAT_ADAPTER_JOB_MAX INT32_MAX /* the largest number of a job */

/* An allocation that is asked for. Texts are borrowed; NULL: not said. */
struct pleat_adapter_wish {
    const char *name; /* of the job */
    uint32_t count;   /* processors; 0: as many as the nodes have (with `exclusive`) */
    uint32_t nodes;   /* the exact number of nodes; 0: any number */
    bool few;         /* on one node, if one has room now; else on several */
    const char *near; /* on this node, if it has room now; else anywhere */
    const char *on;   /* on this node alone; `nodes` is 1 then */
    /* on none of these nodes: names that are words, without any of " ,[]()|&!*?@/": "a1,a2" */
    const char *without;
    uint32_t minutes;                       /* time limit; 0: the batch system's */
    uint64_t memory_mb;                     /* of each node; 0: not said */
    const char *texts[PLEAT_ADAPTER_TEXTS]; /* of the system's `texts`, in that order */
    bool exclusive;                         /* whole nodes */
    bool now;                               /* PLEAT_E_BUSY if it would have to wait */
};

struct pleat_adapter_ops {
    const char *name; /* the way in which the batch system is asked */
    /* {"cluster", "version", "partitions": [...]}, and "kill_wait_s": how long the processes of a
     * job that somebody ends are left between SIGTERM and SIGKILL; absent: no such time is known */
    int (*cluster)(json_t **cluster, struct pleat_error *err);
    /* {"accounts": [{"account", "default", "partition", "qos", "default_qos", "limits"}], "qos":
     * [{"name", "limits"}]}: what this user has in this cluster, by its database of accounts; NULL:
     * the batch system has no such thing. */
    int (*accounts)(const char *cluster, json_t **accounts, struct pleat_error *err);
    /* [{"name", "cpus", "used", "state", "memory_mb", "load", "features"}] */
    int (*nodes)(json_t **nodes, struct pleat_error *err);
    /* This user's jobs, also those that ended lately ("ending": as long as their processes may be
     * there): [{"job", "name", "state", "reason", "start",
     * "end", "nodes": [{"name", "cpus"}]}] */
    int (*jobs)(json_t **jobs, struct pleat_error *err);
    /* Such a job, running or pending. */
    int (*allocate)(const struct pleat_adapter_wish *wish, json_t **job, struct pleat_error *err);
    /* Whether such a job would be taken, now or later. Nothing is submitted. */
    int (*check)(const struct pleat_adapter_wish *wish, struct pleat_error *err);
    /* Ends the job, if it has this name: numbers may be given again. PLEAT_E_NOTFOUND: there is no
     * such job, or it is over. */
    int (*release)(uint32_t job, const char *name, struct pleat_error *err);
    /* Takes all nodes from a running job but these ("a1,a2"), if it has this name; NULL: the batch
     * system cannot. PLEAT_E_NOTFOUND as of `release`. */
    int (*keep)(uint32_t job, const char *name, const char *nodes, struct pleat_error *err);
    /* What the starter is to carry to a node, for an agent there, in the place of a secret: *sealed
     * (seal/seal.h), which is the caller's; NULL: the secret itself. NULL: this batch system has no
     * such thing. */
    int (*seal)(const char *secret, char **sealed, struct pleat_error *err);
};

PLEAT_ARRAY(pleat_adapter_words, char *);
/* Appends a copy of the text. Out of memory ends the process. */
void pleat_adapter_word(struct pleat_adapter_words *words, const char *text);
/* Appends "optionvalue", as one word. */
void pleat_adapter_option(struct pleat_adapter_words *words, const char *option, const char *value);
void pleat_adapter_words_finish(struct pleat_adapter_words *words);

/* A program that is to be started in an allocation. */
struct pleat_adapter_step {
    uint32_t job;
    const char *node;
    bool reads; /* from its standard input */
};

/* An option of the program's own. */
struct pleat_adapter_own_option {
    const char *name; /* NULL: no more rows */
    bool has_value;
    /* PLEAT_E_INVALID: err says what is wrong with the value. */
    int (*take)(const char *value, struct pleat_error *err);
};

/* A batch system. */
struct pleat_adapter_system {
    const char *program, *role; /* the adapter's name, and who it is in its hello */
    const char *title;          /* of the batch system, for people */
    const char *usage;
    const struct pleat_adapter_own_option *options;
    /* Variables that begin so are not meant for our jobs, and are forgotten; but those of `keep`.
     * Both lists end with NULL. */
    const char *const *forget, *const *keep;
    const char *const *texts; /* members of "allocate"; the list ends with NULL */
    const char *const *never; /* reasons that only another configuration ends; the same */
    /* The reason while a job has its nodes, but has not begun there; NULL: such a job runs. */
    const char *starting;
    const char *starter;       /* what starts a program in an allocation */
    bool passes_variables;     /* it hands its environment on, unseen by others */
    const char *not_in_a_node; /* characters that the starter would take for something else */
    /* The starter's words, to which those of the program are appended, and variables that it wants
     * itself ("NAME=VALUE"). */
    void (*step)(const struct pleat_adapter_step *step, struct pleat_adapter_words *words,
                 struct pleat_adapter_words *variables);
    /* After options were read. A code: err says what is wrong with the settings. */
    int (*begin)(struct pleat_error *err);
    const struct pleat_adapter_ops *(*ops)(void);
};

/* Whether the text is a name of a job or a node, or a value of an option: not empty, at most `most`
 * bytes, without control characters and without a leading '-'. */
bool pleat_adapter_is_word(const char *text, size_t most);

/* The whole of such a program. */
int pleat_adapter_main(int argc, char **argv, const struct pleat_adapter_system *system);

#endif

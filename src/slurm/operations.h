/* operations.h - what pleat-slurm asks of a Slurm cluster: a table of operations, carried out by
 * libslurm (library.c) or by Slurm's commands (commands.c).
 *
 * All operations block, so they are called from a thread that does nothing else, one at a time.
 * They give JSON as the protocol has it (docs/protocol.md, "pleat-slurm"). They return 0 or
 *   PLEAT_E_CLOSED      the controller cannot be reached, or does not answer: nobody knows whether
 * it has done what was asked PLEAT_E_BUSY        not now: no room, a limit is reached
 *   PLEAT_E_INVALID     never: there is no such partition, no node is so large
 *   PLEAT_E_PERMISSION  this user may not
 *   PLEAT_E_NOTFOUND    there is no such job
 *   PLEAT_E_SYSTEM, PLEAT_E_PROTOCOL  anything else, and an answer that makes no sense
 * and what they fill in then is of no use. Texts from Slurm are data: they are never read by a
 * shell.
 */
#ifndef PLEAT_SLURM_OPERATIONS_H
#define PLEAT_SLURM_OPERATIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define PLEAT_SLURM_JOB_MAX UINT32_C(0x03FFFFFF) /* the largest number of a job */
#define PLEAT_SLURM_NAME_MAX 128                 /* bytes of a job's name, without its NUL */

/* An allocation that is asked for. Texts are borrowed; NULL: not said. */
struct pleat_slurm_wish {
    const char *name;   /* of the job */
    uint32_t count;     /* processors; 0: as many as the nodes have (with `exclusive`) */
    uint32_t nodes;     /* exactly so many; 0: any number */
    bool few;           /* on one node, if one has room now; else on several */
    const char *near;   /* on this node, if it has room now; else anywhere */
    uint32_t minutes;   /* time limit; 0: the partition's */
    uint64_t memory_mb; /* of each node; 0: not said */
    const char *partition, *account, *qos, *constraint;
    bool exclusive; /* whole nodes */
    bool now;       /* PLEAT_E_BUSY if it would have to wait */
};

struct pleat_slurm_ops {
    const char *name;
    /* {"cluster", "version", "partitions": [...]} */
    int (*cluster)(json_t **cluster, struct pleat_error *err);
    /* [{"name", "cpus", "used", "state", "memory_mb", "load"}] */
    int (*nodes)(json_t **nodes, struct pleat_error *err);
    /* This user's jobs, also those that ended lately: [{"job", "name", "state", "reason", "start",
     * "end", "nodes": [{"name", "cpus"}]}] */
    int (*jobs)(json_t **jobs, struct pleat_error *err);
    /* Such a job, running or pending. */
    int (*allocate)(const struct pleat_slurm_wish *wish, json_t **job, struct pleat_error *err);
    /* Ends the job, if it has this name: numbers may be given again. PLEAT_E_NOTFOUND: there is no
     * such job, or it is over. */
    int (*release)(uint32_t job, const char *name, struct pleat_error *err);
};

extern const struct pleat_slurm_ops pleat_slurm_commands;
/* The module with libslurm has this symbol; it is loaded if that library is there. */
#define PLEAT_SLURM_MODULE_SYMBOL "pleat_slurm_library"

/* The names of a list as Slurm writes it ("a[1-3,07],b1"), as a JSON array. PLEAT_E_PROTOCOL: it is
 * no such list, or has more than a million names. */
int pleat_slurm_hostlist(const char *text, json_t **names,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether the text is a name of a job or a node, or a value of an option: not empty, at most `most`
 * bytes, without control characters and without a leading '-'. */
bool pleat_slurm_is_word(const char *text, size_t most);

#endif

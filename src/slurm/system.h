/* system.h - pleat-slurm: a Slurm cluster's operations (adapter/operations.h), by libslurm
 * (library.c) or by Slurm's commands (commands.c).
 */
#ifndef PLEAT_SLURM_SYSTEM_H
#define PLEAT_SLURM_SYSTEM_H

#include "adapter/operations.h"

/* What is in pleat_adapter_wish.texts. */
enum pleat_slurm_text {
    PLEAT_SLURM_PARTITION,
    PLEAT_SLURM_ACCOUNT,
    PLEAT_SLURM_QOS,
    PLEAT_SLURM_CONSTRAINT,
    PLEAT_SLURM_RESERVATION
};

#define PLEAT_SLURM_JOB_MAX UINT32_C(0x03FFFFFF) /* the largest number of a job */

extern const struct pleat_adapter_ops pleat_slurm_commands;
/* The module with libslurm has this symbol; it is loaded if that library is there. */
#define PLEAT_SLURM_MODULE_SYMBOL "pleat_slurm_library"

/* The names of a list as Slurm writes it ("a[1-3,07],b1"), as a JSON array. PLEAT_E_PROTOCOL: it is
 * no such list, or has more than a million names. */
int pleat_slurm_hostlist(const char *text, json_t **names,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* The words of srun (pleat_adapter_system.step). */
void pleat_slurm_step(const struct pleat_adapter_step *step, struct pleat_adapter_words *words,
                      struct pleat_adapter_words *variables);

#endif

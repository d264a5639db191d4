/* slurm_options.h - options of sites of the kind slurm. */
#ifndef PLEAT_SITE_SLURM_OPTIONS_H
#define PLEAT_SITE_SLURM_OPTIONS_H

#include "site/option.h"

enum pleat_slurm_by { PLEAT_SLURM_BY_AUTO, PLEAT_SLURM_BY_COMMANDS };
enum pleat_slurm_whole { PLEAT_SLURM_CORES, PLEAT_SLURM_NODES };

struct pleat_slurm_options {
    char *conf; /* path of slurm.conf; "auto": where Slurm has it */
    char *partition, *account, *qos, *constraint; /* "auto": not said */
    int64_t memory_mb;                            /* of each node; 0: not said */
    int64_t limit_us;                             /* of an allocation; 0: the partition's */
    int64_t queue_us;                             /* how long a claim may wait in the queue */
    int64_t agent_us;                             /* by then an agent must have called */
    int whole;                                    /* enum pleat_slurm_whole */
    int by;                                       /* enum pleat_slurm_by */
    char *adapter;                                /* the program; "auto": beside pleatd's own */
};

extern const struct pleat_site_option pleat_slurm_option_rows[];

#endif

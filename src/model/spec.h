/* spec.h - what a user submits, with its strings; events refer to it by the job's number. */
#ifndef PLEAT_MODEL_SPEC_H
#define PLEAT_MODEL_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "model/sizes.h"
#include "model/types.h"

/* Owns everything in it. Lists of strings end with NULL. */
struct pleat_spec {
    char *name;
    char **argv;
    char **env;
    char *cwd;
    char *runner; /* "plain", "mpi", "malleable" */
    char *mpi;    /* "none", "openmpi", "mpich" */
    char *site;   /* NULL: anywhere */
    char *sizes_text;
    enum pleat_job_kind kind;
    int32_t minimum, maximum, initial;
    struct pleat_sizes sizes; /* its list points into size_list */
    struct pleat_size_list size_list;
    int64_t estimate_us; /* 0: none */
    int64_t deadline_us; /* after the submission; 0: none */
    int64_t begin_us;    /* after the submission (advance reservation); 0: as soon as it can */
    int16_t priority;    /* higher goes first; 0: ordinary */
    bool asks;
};

void pleat_spec_finish(struct pleat_spec *spec);

#endif

/* program.h - runs a command of Slurm to its end; blocks for at most its limit. */
#ifndef PLEAT_SLURM_PROGRAM_H
#define PLEAT_SLURM_PROGRAM_H

#include "base/error.h"

enum { PLEAT_SLURM_PROGRAM_LIMIT_S = 20 };

struct pleat_slurm_said {
    int code;              /* its exit code */
    char *output, *errors; /* the caller frees both */
};

/* argv ends with NULL; no shell reads it. input: for its standard input; NULL: nothing.
 * PLEAT_E_CLOSED: it did not end in time, and was killed; PLEAT_E_NOTFOUND: it could not be
 * started; PLEAT_E_SYSTEM: a signal ended it. */
int pleat_slurm_program(const char *const *argv, const char *input, struct pleat_slurm_said *said,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

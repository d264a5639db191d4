/* program.h - runs a command of a batch system to its end; blocks for at most its limit. */
#ifndef PLEAT_ADAPTER_PROGRAM_H
#define PLEAT_ADAPTER_PROGRAM_H

#include "base/error.h"

enum { PLEAT_ADAPTER_PROGRAM_LIMIT_S = 20 };

struct pleat_adapter_said {
    int code;              /* its exit code */
    char *output, *errors; /* the caller frees both */
};

/* argv ends with NULL; no shell reads it. input: for its standard input; NULL: nothing.
 * PLEAT_E_CLOSED: it did not end in time, and was killed; PLEAT_E_NOTFOUND: it could not be
 * started; PLEAT_E_SYSTEM: a signal ended it;
 * PLEAT_E_TOOBIG: it said too much. */
int pleat_adapter_program(const char *const *argv, const char *input,
                          struct pleat_adapter_said *said,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

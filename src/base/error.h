/* error.h - fills struct pleat_error. The convention is in include/pleat-error.h. */
#ifndef PLEAT_BASE_ERROR_H
#define PLEAT_BASE_ERROR_H

#include "pleat-error.h"

/* Marks functions that are called when something goes wrong, or hardly ever: the compiler takes the
 * paths that lead to them for unlikely. It never puts them into their callers, which would then
 * need more registers, and save them at every call. */
#define PLEAT_COLD __attribute__((cold, noinline))

/* Fills *err (where not NULL) and returns code, so that a failure is one line:
 *     return pleat_error_set(err, PLEAT_E_INVALID, "%s:%d: unknown key '%s'", ...); */
int pleat_error_set(struct pleat_error *err, int code, const char *fmt, ...)
    PLEAT_PRINTF(3, 4) PLEAT_COLD;

/* As above with code PLEAT_E_SYSTEM, and ": " and the text of errno_value after the message. */
int pleat_error_sys(struct pleat_error *err, int errno_value, const char *fmt, ...)
    PLEAT_PRINTF(3, 4) PLEAT_COLD;

/* Puts the formatted context and ": " in front of the text in *err (where err is not NULL); *err
 * keeps its code. Returns `code`, which the caller has from the function that failed, so that it is
 * known without an err, too. */
int pleat_error_prefix(struct pleat_error *err, int code, const char *fmt, ...) PLEAT_PRINTF(3, 4);

/* The short name of a code ("invalid", "not found"), for JSON; never NULL. */
const char *pleat_error_name(int code);

#endif

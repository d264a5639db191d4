/* error.h - fills struct pleat_error. The convention is in include/pleat-error.h. */
#ifndef PLEAT_BASE_ERROR_H
#define PLEAT_BASE_ERROR_H

#include "pleat-error.h"

/* Of functions that are called when something goes wrong, or hardly ever: what leads to a call of
 * them is laid out as the unlikely way. */
#define PLEAT_COLD __attribute__((cold))

/* Fills *err (where not NULL) and returns code, so that a failure is one line:
 *     return pleat_error_set(err, PLEAT_E_INVALID, "%s:%d: unknown key '%s'", ...); */
int pleat_error_set(struct pleat_error *err, int code, const char *fmt, ...)
    PLEAT_PRINTF(3, 4) PLEAT_COLD;

/* As above with code PLEAT_E_SYSTEM, and ": " and the text of errno_value after the message. */
int pleat_error_sys(struct pleat_error *err, int errno_value, const char *fmt, ...)
    PLEAT_PRINTF(3, 4) PLEAT_COLD;

/* Puts the formatted context and ": " in front of the text that is there (where err is not NULL).
 * Returns code, which the caller has from what failed: without an err nothing else knows it. *err
 * keeps its own. */
int pleat_error_prefix(struct pleat_error *err, int code, const char *fmt, ...) PLEAT_PRINTF(3, 4);

/* The short name of a code ("invalid", "not found"), for JSON; never NULL. */
const char *pleat_error_name(int code);

#endif

/* limits.h - resource limits of a process (setrlimit) as a text: "nofile=1024:1048576 core=0:*". */
#ifndef PLEAT_BASE_LIMITS_H
#define PLEAT_BASE_LIMITS_H

#include <stdbool.h>
#include <sys/resource.h>

#include "base/array.h"
#include "base/error.h"

/* size of the longest text, with its NUL */
#define PLEAT_LIMITS_TEXT_MAX 1024

struct pleat_limits {
    struct rlimit values[RLIM_NLIMITS]; /* RLIM_INFINITY: no limit, or as high as allowed */
};

/* Gets the limits of this process. */
void pleat_limits_here(struct pleat_limits *limits);
/* Appends words NAME=SOFT:HARD, separated by one blank, with '*' for no limit. Resources without
 * any limit are left out. */
void pleat_limits_text(const struct pleat_limits *limits, struct pleat_string *text);
/* Parses such a text. Resources that it does not name have no limit. PLEAT_E_INVALID. */
int pleat_limits_parse(const char *text, struct pleat_limits *limits,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* Sets the limits of this process. A hard limit above the present one is not raised, and a soft
 * limit is cut to the hard one. Safe after a fork. 0, or the errno of the first limit that cannot
 * be set. */
int pleat_limits_set(const struct pleat_limits *limits);

#endif

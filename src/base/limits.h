/* limits.h - resource limits of a process (setrlimit) as a text: "nofile=1024:1048576 core=0:*". */
#ifndef PLEAT_BASE_LIMITS_H
#define PLEAT_BASE_LIMITS_H

#include <stdbool.h>
#include <sys/resource.h>

#include "base/array.h"
#include "base/error.h"

/* The longest text there is, with its NUL. */
#define PLEAT_LIMITS_TEXT_MAX 1024

struct pleat_limits {
    struct rlimit values[RLIM_NLIMITS]; /* RLIM_INFINITY: as high as they can be */
};

/* Those of this process. */
void pleat_limits_here(struct pleat_limits *limits);
/* Words NAME=SOFT:HARD, a '*' for no limit, with one blank between them; those without any limit
 * are left out. */
void pleat_limits_text(const struct pleat_limits *limits, struct pleat_string *text);
/* What is not named has no limit. PLEAT_E_INVALID. */
int pleat_limits_parse(const char *text, struct pleat_limits *limits,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* Sets them for this process: a hard limit above its own stays its own, a soft one goes no higher
 * than that. Safe after a fork. 0, or the errno of the first that cannot be set. */
int pleat_limits_set(const struct pleat_limits *limits);

#endif

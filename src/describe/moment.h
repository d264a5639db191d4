/* moment.h - reads moments: "10:30", "-2h", "2026-11-21 10:00", "now". */
#ifndef PLEAT_DESCRIBE_MOMENT_H
#define PLEAT_DESCRIBE_MOMENT_H

#include <stdbool.h>

#include "base/error.h"

struct pleat_moment {
    double at_s;      /* since 1970; of a plain duration, the duration */
    bool is_duration; /* "90s", "15min": the caller decides from when it counts */
};

/* Reads a moment. A time of day ("10:30", "10:30:15") is the last such time not after now_s. A day
 * ("2026-11-21") begins at midnight, local time; a time may follow, after a blank or 'T'. "-2h",
 * "-90s" count back from now_s. "now". "@1795288058" is in seconds since 1970. `what` names the
 * option in *err. */
int pleat_parse_moment(const char *what, const char *text, double now_s,
                       struct pleat_moment *moment, struct pleat_error *err) PLEAT_MUST_CHECK;
/* As pleat_parse_moment, but a plain duration counts back from now_s, too. */
int pleat_parse_past(const char *what, const char *text, double now_s, double *at_s,
                     struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

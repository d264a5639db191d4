/* moment.h - moments as people write them: "10:30", "-2h", "2026-11-21 10:00", "now". */
#ifndef PLEAT_DESCRIBE_MOMENT_H
#define PLEAT_DESCRIBE_MOMENT_H

#include <stdbool.h>

#include "base/error.h"

struct pleat_moment {
    double at_s;      /* since 1970; or, where it is a plain duration, that duration */
    bool is_duration; /* "90s", "15min": what it is counted from is the caller's to say */
};

/* A time of the day ("10:30", "10:30:15") is the last one that is not after now_s; a day
 * ("2026-11-21") begins at midnight, local time, and may have a time behind it, after a blank or
 * 'T'; "-2h", "-90s" are before now_s; "now"; "@1795288058" is in seconds since 1970. `what` names
 * the option in *err. */
int pleat_parse_moment(const char *what, const char *text, double now_s,
                       struct pleat_moment *moment, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same, but a plain duration counts back from now_s, too. */
int pleat_parse_past(const char *what, const char *text, double now_s, double *at_s,
                     struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

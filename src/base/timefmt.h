/* timefmt.h - times as people read them. */
#ifndef PLEAT_BASE_TIMEFMT_H
#define PLEAT_BASE_TIMEFMT_H

#include <stddef.h>

#define PLEAT_TIME_SIZE 32

/* A duration: "153 ms", "12.3 s", "4m05s", "2h03m", "3d04h"; "-" for NAN, which means "not known".
 * `buffer` has at least PLEAT_TIME_SIZE bytes, and is returned. */
char *pleat_time_span(double seconds, char *buffer);
/* A moment in seconds since 1970, in local time: "07:35:52" if it is today, else "2026-11-21
 * 07:35"; "-" for NAN. `buffer` likewise. */
char *pleat_time_moment(double seconds, char *buffer);

#endif

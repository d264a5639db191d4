/* span.h - times in files that describe simulated sites. */
#ifndef PLEAT_CLI_SIM_SPAN_H
#define PLEAT_CLI_SIM_SPAN_H

#include "sim/platform.h"

/* "90", "1.5 h", "200 ms", "2 d": microseconds; seconds where no unit is given. */
int pleat_parse_span(const char *text, int64_t *us, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same with a spread: "5 s +- 2 s". */
int pleat_parse_delay(const char *text, struct pleat_delay *delay,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

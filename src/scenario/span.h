/* span.h - times in files that describe simulated sites. */
#ifndef PLEAT_SCENARIO_SPAN_H
#define PLEAT_SCENARIO_SPAN_H

#include "sim/platform.h"

/* Reads a time: "90", "1.5 h", "200 ms", "2 d". Without a unit it is in seconds. */
int pleat_parse_span(const char *text, int64_t *us, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reads a time with a spread: "5 s +- 2 s". */
int pleat_parse_delay(const char *text, struct pleat_delay *delay,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

/* clock.h - the only place that reads a clock. model, policy, core and sim do not include it. */
#ifndef PLEAT_BASE_CLOCK_H
#define PLEAT_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define PLEAT_US_PER_S INT64_C(1000000)

/* Microseconds since 1970, from the system's clock (which may jump). */
int64_t pleat_clock_real_us(void);
/* Microseconds since an arbitrary moment; never goes back. */
int64_t pleat_clock_monotonic_us(void);
/* The same clock in nanoseconds, for short durations; makes no system call. */
int64_t pleat_clock_monotonic_ns(void);
/* "2026-11-21 07:35:52.123" in local time. `buffer` has at least 32 bytes, and is returned. */
char *pleat_clock_format(int64_t real_us, char *buffer, size_t size);

#endif

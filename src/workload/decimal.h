/* decimal.h - reads and writes decimal numbers of workloads, without the rounding of doubles. */
#ifndef PLEAT_WORKLOAD_DECIMAL_H
#define PLEAT_WORKLOAD_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

/* The number whole + micros / 10^6; both members have its sign. A number that is too large is
 * INT64_MAX (or its negative) and 0. Digits beyond the sixth after the point are rounded. */
struct pleat_decimal {
    int64_t whole;
    int32_t micros;
};

static inline bool pleat_decimal_negative(const struct pleat_decimal *number)
{
    return number->whole < 0 || number->micros < 0;
}

static inline bool pleat_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Reads "12", "-1", "0.5" or "1.2e6" from *at on, and moves *at behind it. False: there is no
 * number, or it does not end at `end` or a blank; then nothing is changed. */
bool pleat_decimal_scan(const char **at, const char *end, struct pleat_decimal *number);

void pleat_decimal_add_integer(struct pleat_string *out, int64_t value);
/* Appends us microseconds (at least 0) as seconds, exactly: "12", "0.000001". */
void pleat_decimal_add_seconds(struct pleat_string *out, int64_t us);
/* Appends the number with 15 digits, or with 17 where 15 do not read back as the same number. */
void pleat_decimal_add_real(struct pleat_string *out, double value);

#endif

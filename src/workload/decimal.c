#include "workload/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static int64_t power_of_ten(int64_t exponent)
{
    int64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* Sets mantissa x 10^exponent. A positive exponent may stand for digits that did not fit. */
static void scale(int64_t mantissa, int64_t exponent, struct pleat_decimal *number)
{
    number->micros = 0;
    for (; exponent < -24 && mantissa > 0; exponent++)
        mantissa /= 10;
    if (mantissa == 0 || exponent == 0) {
        number->whole = mantissa;
    } else if (exponent > 0) {
        if (exponent > 18 || mantissa >= INT64_MAX / power_of_ten(exponent))
            number->whole = INT64_MAX;
        else
            number->whole = mantissa * power_of_ten(exponent);
    } else {
        if (exponent < -6) { /* round to the microsecond */
            int64_t divisor = power_of_ten(-6 - exponent);
            mantissa = mantissa / divisor + (mantissa % divisor >= (divisor + 1) / 2);
            exponent = -6;
        }
        int64_t divisor = power_of_ten(-exponent);
        number->whole = mantissa / divisor;
        number->micros = (int32_t)(mantissa % divisor * power_of_ten(6 + exponent));
    }
}

/* Moves *at behind an exponent. False: no number follows the e. */
static bool scan_exponent(const char **at, const char *end, int64_t *exponent)
{
    const char *p = *at + 1;
    bool negative = false;
    if (p < end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';
    if (p == end || !is_digit(*p))
        return false;
    int64_t value = 0;
    for (; p < end && is_digit(*p); p++) {
        if (value < 1000000)
            value = value * 10 + (*p - '0');
    }
    *exponent += negative ? -value : value;
    *at = p;
    return true;
}

/* Reads a number without its sign that has a point, an exponent, or very many digits. */
static bool scan_decimal(const char **at, const char *end, struct pleat_decimal *number)
{
    const char *p = *at;
    int64_t mantissa = 0, exponent = 0;
    bool any = false, point = false;
    for (; p < end && (is_digit(*p) || (*p == '.' && !point)); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        any = true;
        int digit = *p - '0';
        if (mantissa < INT64_MAX / 10 || (mantissa == INT64_MAX / 10 && digit <= INT64_MAX % 10)) {
            mantissa = mantissa * 10 + digit;
            exponent -= point;
        } else {
            exponent += !point;
        }
    }
    if (!any || (p < end && (*p == 'e' || *p == 'E') && !scan_exponent(&p, end, &exponent)))
        return false;
    scale(mantissa, exponent, number);
    *at = p;
    return true;
}

bool pleat_decimal_scan(const char **at, const char *end, struct pleat_decimal *number)
{
    const char *p = *at;
    bool negative = false;
    if (p < end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';
    const char *digits = p;
    int64_t value = 0;
    while (p < end && is_digit(*p) && p - digits < 18)
        value = value * 10 + (*p++ - '0');
    if (p > digits && (p == end || pleat_is_blank(*p))) {
        number->whole = value;
        number->micros = 0;
    } else {
        p = digits;
        if (!scan_decimal(&p, end, number) || (p < end && !pleat_is_blank(*p)))
            return false;
    }
    if (negative) {
        number->whole = -number->whole;
        number->micros = -number->micros;
    }
    *at = p;
    return true;
}

void pleat_decimal_add_integer(struct pleat_string *out, int64_t value)
{
    char text[24];
    size_t at = sizeof(text);
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do {
        text[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        text[--at] = '-';
    pleat_string_add_bytes(out, text + at, sizeof(text) - at);
}

void pleat_decimal_add_seconds(struct pleat_string *out, int64_t us)
{
    pleat_decimal_add_integer(out, us / 1000000);
    if (us % 1000000 == 0)
        return;
    char text[7] = ".";
    size_t length = 1;
    for (int64_t rest = us % 1000000, unit = 100000; rest > 0; rest %= unit, unit /= 10)
        text[length++] = (char)('0' + rest / unit);
    pleat_string_add_bytes(out, text, length);
}

void pleat_decimal_add_real(struct pleat_string *out, double value)
{
    char text[40];
    if (fabs(value) < 1e15 && value == trunc(value)) { /* true of nearly all numbers in logs */
        pleat_decimal_add_integer(out, (int64_t)value);
        return;
    }
    snprintf(text, sizeof(text), "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof(text), "%.17g", value);
    pleat_string_add(out, text);
}

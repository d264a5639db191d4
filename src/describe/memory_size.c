/* memory_size.c - reads sizes of memory. A size must say its unit, as a duration must (duration.c).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "describe/values.h"
#include "model/spec.h"

int pleat_parse_memory(const char *what, const char *text, int64_t *kib, struct pleat_error *err)
{
    static const char units[] = "KMGT";
    char number[32];
    double count = 0;
    size_t digits = strspn(text, "0123456789.");
    char letter = text[digits];
    if (letter >= 'a' && letter <= 'z')
        letter = (char)(letter - 'a' + 'A');
    const char *unit = letter ? strchr(units, letter) : NULL;
    const char *rest = unit ? text + digits + 1 : "";
    snprintf(number, sizeof(number), "%.*s", (int)(digits < 31 ? digits : 31), text);
    if (digits == strlen(text) && digits > 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: %s of what? Say %sM for mebibytes, %sG for gibibytes", what,
                               text, text, text);
    if (!unit || (*rest && strcmp(rest, "B") != 0 && strcmp(rest, "iB") != 0) ||
        pleat_parse_seconds("", number, 0, 1e12, &count, NULL) || !(count > 0))
        return pleat_error_set(
            err, PLEAT_E_INVALID,
            "%s: '%s' is no size above 0 such as 512M or 1.5G (units K, M, G, T)", what, text);
    double size = ceil(count * pow(1024, (double)(unit - units)));
    if (size > (double)PLEAT_SPEC_MEMORY_MAX_KB)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: %s is more than %lldT", what, text,
                               (long long)(PLEAT_SPEC_MEMORY_MAX_KB >> 30));
    *kib = (int64_t)size;
    return 0;
}

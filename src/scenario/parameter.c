#include "scenario/parameter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "describe/values.h"
#include "sim/sim.h"

/* Whether a parameter is a time, which is given in seconds under a name that ends in _s. */
static bool in_seconds(uint32_t parameter, char *name, size_t size)
{
    snprintf(name, size, "%s", pleat_parameter_name(parameter));
    size_t length = strlen(name);
    if (length < 4 || strcmp(name + length - 3, "_us") != 0)
        return false;
    memcpy(name + length - 2, "s", 2);
    return true;
}

int pleat_parameter_read(const char *name, const char *value, int64_t *parameters,
                         struct pleat_error *err)
{
    char names[PLEAT_PARAM_COUNT][40];
    const char *known[PLEAT_PARAM_COUNT];
    size_t count = 0;
    for (uint32_t p = pleat_parameter_next(0); p; p = pleat_parameter_next(p)) {
        bool seconds = in_seconds(p, names[p], sizeof(names[p]));
        double time = 0;
        known[count++] = names[p];
        if (strcmp(names[p], name) != 0)
            continue;
        if (!seconds)
            return pleat_parse_int(name, value, 0, 1000000, &parameters[p], err);
        int rc = pleat_parse_seconds(name, value, 1e-6, 1e9, &time, err);
        if (!rc)
            parameters[p] = llround(time * 1e6);
        return rc;
    }
    const char *near = pleat_nearest(name, known, count);
    return pleat_error_set(err, PLEAT_E_NOTFOUND,
                           "there is no parameter '%.40s'%s%s%s: docs/admin-guide.md lists them",
                           name, near ? " (did you mean '" : "", near ? near : "",
                           near ? "'?)" : "");
}

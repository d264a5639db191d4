#include "agent/params.h"

#include <string.h>

#include "base/clock.h"
#include "wire/message.h"

#define GRACE_MAX_S 86400.0

int pleat_param_id(const json_t *params, const char *name, uint64_t *id, struct pleat_error *err)
{
    int64_t value = 0;
    int result = pleat_get_int(params, name, true, 1, INT64_MAX, &value, err);
    *id = (uint64_t)value;
    return result;
}

int pleat_param_seconds(const json_t *params, const char *name, double otherwise, int64_t *us,
                        struct pleat_error *err)
{
    double seconds = otherwise;
    int result = pleat_get_real(params, name, false, &seconds, err);
    if (result)
        return result;
    if (!(seconds >= 0 && seconds <= GRACE_MAX_S))
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s' must be from 0 to %.0f seconds", name,
                               GRACE_MAX_S);
    *us = (int64_t)(seconds * (double)PLEAT_US_PER_S);
    return 0;
}

int pleat_param_strings(const json_t *params, const char *name, bool variables,
                        const json_t **array, struct pleat_error *err)
{
    const json_t *found = params ? json_object_get(params, name) : NULL;
    if (!json_is_array(found))
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s' must be an array of strings", name);
    for (size_t i = 0; i < json_array_size(found); i++) {
        const char *text = json_string_value(json_array_get(found, i));
        if (!text)
            return pleat_error_set(err, PLEAT_E_INVALID, "'%s' must be an array of strings", name);
        if (variables && (*text == '=' || !strchr(text, '=')))
            return pleat_error_set(err, PLEAT_E_INVALID, "'%s' has '%.80s', not NAME=value", name,
                                   text);
    }
    *array = found;
    return 0;
}

int pleat_param_slots(const json_t *params, const json_t **slots, struct pleat_error *err)
{
    const json_t *found = json_object_get(params, "slots");
    if (!found || json_is_null(found))
        return 0;
    bool good = json_is_array(found);
    size_t index;
    const json_t *range;
    json_array_foreach(found, index, range) good = good && json_is_object(range);
    if (!good)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'slots' must be an array of {\"first\", \"count\"}");
    *slots = found;
    return 0;
}

#include "wire/reply.h"

#include <math.h>
#include <string.h>

const char *pleat_reply_text(const json_t *object, const char *name, const char *fallback)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : fallback;
}

int64_t pleat_reply_int(const json_t *object, const char *name, int64_t fallback)
{
    const json_t *value = json_object_get(object, name);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

int pleat_reply_small(const json_t *object, const char *name, int low, int high)
{
    int64_t value = pleat_reply_int(object, name, low);
    return value < low ? low : value > high ? high : (int)value;
}

double pleat_reply_real(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

bool pleat_reply_true(const json_t *object, const char *name)
{
    return json_is_true(json_object_get(object, name));
}

json_t *pleat_reply_array(const json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);
    return json_is_array(value) ? value : NULL;
}

bool pleat_reply_is(const json_t *object, const char *name, const char *text)
{
    return !strcmp(pleat_reply_text(object, name, ""), text);
}

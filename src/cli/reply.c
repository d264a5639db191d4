#include "cli/reply.h"

#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

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

static int print(const json_t *json, size_t flags)
{
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        flags |= JSON_ENSURE_ASCII;
    if (json_dumpf(json, stdout, flags | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) == 0)
        putchar('\n');
    else if (!ferror(stdout)) {
        pleat_say("cannot print the answer as JSON: out of memory");
        return PLEAT_EXIT_FAILED;
    }
    return PLEAT_EXIT_OK;
}

int pleat_reply_print(const json_t *json)
{
    return print(json, JSON_INDENT(2));
}

int pleat_reply_print_line(const json_t *json)
{
    return print(json, JSON_COMPACT);
}

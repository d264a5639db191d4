#include "wire/message.h"

/* 1: *member is there; 0: it is absent and not required; or an error that names it. */
static int find_member(const json_t *object, const char *name, bool required, const json_t **member,
                       struct pleat_error *err)
{
    *member = json_object_get(object, name);
    if (*member)
        return 1;
    if (!required)
        return 0;
    return pleat_error_set(err, PLEAT_E_INVALID, "member '%s' is missing", name);
}

static int wrong_type(const char *name, const char *wanted, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_INVALID, "member '%s' must be %s", name, wanted);
}

int pleat_get_string(const json_t *object, const char *name, bool required, const char **value,
                     struct pleat_error *err)
{
    const json_t *member;
    int found = find_member(object, name, required, &member, err);
    if (found <= 0)
        return found;
    if (!json_is_string(member))
        return wrong_type(name, "a string", err);
    *value = json_string_value(member);
    return 0;
}

int pleat_get_int(const json_t *object, const char *name, bool required, int64_t low, int64_t high,
                  int64_t *value, struct pleat_error *err)
{
    const json_t *member;
    int found = find_member(object, name, required, &member, err);
    if (found <= 0)
        return found;
    if (!json_is_integer(member))
        return wrong_type(name, "an integer", err);
    int64_t number = json_integer_value(member);
    if (number < low || number > high)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "member '%s' is %lld; it must be from %lld to %lld", name,
                               (long long)number, (long long)low, (long long)high);
    *value = number;
    return 0;
}

int pleat_get_bool(const json_t *object, const char *name, bool required, bool *value,
                   struct pleat_error *err)
{
    const json_t *member;
    int found = find_member(object, name, required, &member, err);
    if (found <= 0)
        return found;
    if (!json_is_boolean(member))
        return wrong_type(name, "true or false", err);
    *value = json_is_true(member);
    return 0;
}

int pleat_get_real(const json_t *object, const char *name, bool required, double *value,
                   struct pleat_error *err)
{
    const json_t *member;
    int found = find_member(object, name, required, &member, err);
    if (found <= 0)
        return found;
    if (!json_is_number(member))
        return wrong_type(name, "a number", err);
    *value = json_number_value(member);
    return 0;
}

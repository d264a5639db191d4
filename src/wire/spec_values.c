#include "wire/spec_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "wire/message.h"

int pleat_spec_copy_text(const json_t *object, const char *name, bool required, char **out,
                         struct pleat_error *err)
{
    const char *text = NULL;
    if (json_is_null(json_object_get(object, name)) && !required)
        return 0;
    int rc = pleat_get_string(object, name, required, &text, err);
    if (rc || !text)
        return rc;
    *out = strdup(text);
    return *out ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
}

int pleat_spec_copy_bounded(const json_t *object, const char *name, size_t most, char **out,
                            struct pleat_error *err)
{
    int rc = pleat_spec_copy_text(object, name, false, out, err);
    if (rc || !*out)
        return rc;
    if (!**out)
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s' must not be empty", name);
    if (strlen(*out) > most)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "'%s' has %zu bytes; at most %zu", name,
                               strlen(*out), most);
    return 0;
}

int pleat_spec_copy_list(const json_t *object, const char *name, size_t most, char ***out,
                         struct pleat_error *err)
{
    const json_t *list = json_object_get(object, name);
    if (!json_is_array(list))
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s' must be a list of strings", name);
    size_t count = json_array_size(list);
    if (count > most)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "'%s' has %zu strings; at most %zu", name,
                               count, most);
    *out = calloc(count + 1, sizeof(**out));
    if (!*out)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text)
            return pleat_error_set(err, PLEAT_E_INVALID, "'%s' must be a list of strings", name);
        (*out)[i] = strdup(text);
        if (!(*out)[i])
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    return 0;
}

int pleat_spec_read_choice(const json_t *object, const char *name, const char *const *choices,
                           const char *fallback, char **out, struct pleat_error *err)
{
    int rc = pleat_spec_copy_text(object, name, false, out, err);
    if (rc)
        return rc;
    if (!*out && !(*out = strdup(fallback)))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (size_t i = 0; choices[i]; i++)
        if (!strcmp(choices[i], *out))
            return 0;
    return pleat_error_set(err, PLEAT_E_INVALID, "'%s' cannot be '%s'", name, *out);
}

int pleat_spec_read_seconds(const json_t *object, const char *name, int64_t *us,
                            struct pleat_error *err)
{
    double seconds = 0;
    int rc = json_is_null(json_object_get(object, name))
                 ? 0
                 : pleat_get_real(object, name, false, &seconds, err);
    if (rc)
        return rc;
    if (!(seconds >= 0 && seconds <= 1e9))
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s' must be between 0 and 1e9 seconds",
                               name);
    *us = (int64_t)(seconds * 1e6);
    return 0;
}

int pleat_spec_read_seconds_or_default(const json_t *object, const char *name, int64_t *us,
                                       struct pleat_error *err)
{
    *us = -1;
    return json_is_null(json_object_get(object, name)) || !json_object_get(object, name)
               ? 0
               : pleat_spec_read_seconds(object, name, us, err);
}

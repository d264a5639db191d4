#include <string.h>

#include "site/batch_kind.h"
#include "wire/message.h"

enum { WORD_MAX = 255 };

int pleat_batch_check_path(const char *text, struct pleat_error *err)
{
    if (!strcmp(text, "auto") || text[0] == '/')
        return 0;
    return pleat_error_set(err, PLEAT_E_INVALID, "must be auto, or a path that begins with /");
}

/* As the adapters take them: control characters are refused for all texts. */
int pleat_batch_check_word(const char *text, struct pleat_error *err)
{
    if (!text[0] || text[0] == '-' || strlen(text) > WORD_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "must have from 1 to %d bytes, and not begin with '-'", WORD_MAX);
    return 0;
}

void pleat_batch_set_text(json_t *params, const char *member, const char *value)
{
    if (strcmp(value, "auto") != 0)
        json_object_set_new(params, member, pleat_json_text(value));
}

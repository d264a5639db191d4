#include "cli/common/word_list.h"

#include <stdio.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/reply.h"

int pleat_parse_words(const char *what, const char *text, const char *const *known, json_t **chosen,
                      struct pleat_error *err)
{
    size_t count = 0, index;
    while (known[count])
        count++;
    if (!*chosen)
        *chosen = json_array();
    while (*text) {
        char word[32];
        size_t length = strcspn(text, ",");
        snprintf(word, sizeof(word), "%.*s", (int)(length < 31 ? length : 31), text);
        int rc = pleat_parse_word(what, word, known, count, &index, err);
        if (rc)
            return rc;
        json_array_append_new(*chosen, json_string(known[index]));
        text += length + (text[length] == ',');
    }
    return 0;
}

bool pleat_word_is_chosen(const json_t *chosen, const json_t *object, const char *member)
{
    bool found = !chosen;
    size_t i;
    json_t *word;
    json_array_foreach(chosen, i, word) found =
        found || pleat_reply_is(object, member, json_string_value(word));
    return found;
}

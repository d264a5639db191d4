#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/operations.h"

static void take(struct pleat_adapter_words *words, char *text)
{
    if (!text || pleat_array_push(words, text))
        abort();
}

void pleat_adapter_word(struct pleat_adapter_words *words, const char *text)
{
    take(words, strdup(text));
}

void pleat_adapter_option(struct pleat_adapter_words *words, const char *option, const char *value)
{
    char *text;
    take(words, asprintf(&text, "%s%s", option, value) < 0 ? NULL : text);
}

void pleat_adapter_words_finish(struct pleat_adapter_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    pleat_array_finish(words);
}

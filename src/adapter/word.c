#include <string.h>

#include "adapter/operations.h"

bool pleat_adapter_is_word(const char *text, size_t most)
{
    size_t length = strnlen(text, most + 1);
    if (length == 0 || length > most || text[0] == '-')
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            return false;
    return true;
}

#include "base/utf8.h"

#include <ctype.h>
#include <string.h>

size_t pleat_utf8_length(const char *bytes, size_t left)
{
    const unsigned char *text = (const unsigned char *)bytes;
    static const unsigned long smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = text[0];
    if (first < 0x80)
        return 1;
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc0 || first > 0xf4 || length > left)
        return 0;
    unsigned long code = first & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    return length;
}

bool pleat_utf8_is(const char *text)
{
    size_t left = strlen(text), length;
    for (; left > 0; text += length, left -= length)
        if ((length = pleat_utf8_length(text, left)) == 0)
            return false;
    return true;
}

bool pleat_name_is(const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length > PLEAT_NAME_MAX || *text == '.' || *text == '-')
        return false;
    for (; *text; text++)
        if (!((unsigned char)*text < 0x80 && isalnum((unsigned char)*text)) &&
            !strchr("-_.", *text))
            return false;
    return true;
}

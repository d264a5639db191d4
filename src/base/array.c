#include "base/array.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int pleat_array_reserve_raw(void **items, size_t *capacity, size_t count, size_t extra,
                            size_t item_size)
{
    if (extra <= *capacity - count)
        return 0;
    if (extra > SIZE_MAX - count)
        return PLEAT_E_NOMEM;
    size_t wanted = *capacity ? *capacity * 2 : 16;
    if (wanted < count + extra)
        wanted = count + extra;
    if (wanted > SIZE_MAX / 2 / item_size)
        return PLEAT_E_NOMEM;
    void *moved = realloc(*items, wanted * item_size);
    if (!moved)
        return PLEAT_E_NOMEM;
    *items = moved;
    *capacity = wanted;
    return 0;
}

static int string_reserve(struct pleat_string *string, size_t extra)
{
    if (string->failed)
        return PLEAT_E_NOMEM;
    /* one byte more, for the terminating NUL */
    if (pleat_array_reserve_raw((void **)&string->text, &string->capacity, string->length,
                                extra + 1, 1)) {
        string->failed = 1;
        return PLEAT_E_NOMEM;
    }
    return 0;
}

void pleat_string_add_bytes(struct pleat_string *string, const char *bytes, size_t count)
{
    if (string_reserve(string, count))
        return;
    memcpy(string->text + string->length, bytes, count);
    string->length += count;
    string->text[string->length] = '\0';
}

void pleat_string_add(struct pleat_string *string, const char *text)
{
    pleat_string_add_bytes(string, text, strlen(text));
}

void pleat_string_addf(struct pleat_string *string, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (length < 0 || string_reserve(string, (size_t)length))
        return;
    va_start(args, fmt);
    vsnprintf(string->text + string->length, (size_t)length + 1, fmt, args);
    va_end(args);
    string->length += (size_t)length;
}

void pleat_string_finish(struct pleat_string *string)
{
    free(string->text);
    memset(string, 0, sizeof(*string));
}

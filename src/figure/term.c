#include "figure/term.h"

#include <string.h>

/* Length in bytes of the character at text. A broken sequence counts as one character of one byte.
 */
static size_t character(const char *text)
{
    unsigned char first = (unsigned char)*text;
    size_t length = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < length; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 1;
    return length;
}

static bool printable(const struct pleat_term *term, const char *text, size_t length)
{
    unsigned char first = (unsigned char)*text;
    if (length == 1)
        return first >= ' ' && first < 127;
    bool c1_control = first == 0xc2 && (unsigned char)text[1] < 0xa0;
    return term->utf8 && !c1_control;
}

/* What stands for a sign in ASCII, where the terminal has no other characters. NULL: the sign is
 * not known. */
static const char *in_ascii(const struct pleat_term *term, const char *text, size_t length)
{
    static const char *const signs[][2] = {{"\u00b1", "+-"}, {"\u00d7", "x"}, {"\u2265", ">="},
                                           {"\u2264", "<="}, {"\u2013", "-"}, {"\u2019", "'"}};
    for (size_t i = 0; !term->utf8 && i < sizeof(signs) / sizeof(signs[0]); i++)
        if (strlen(signs[i][0]) == length && !memcmp(signs[i][0], text, length))
            return signs[i][1];
    return NULL;
}

void pleat_term_add(const struct pleat_term *term, struct pleat_string *out, const char *text,
                    int columns)
{
    int width = pleat_term_width(term, text);
    const char *dots = term->utf8 ? "\u2026" : "...";
    int dots_width = term->utf8 ? 1 : 3;
    bool cut = columns > 0 && width > columns;
    int keep = !cut ? width : columns > dots_width ? columns - dots_width : columns;
    for (int i = 0; *text && i < keep; i++) {
        size_t length = character(text);
        const char *ascii = in_ascii(term, text, length);
        if (ascii)
            pleat_string_add(out, ascii);
        else if (printable(term, text, length))
            pleat_string_add_bytes(out, text, length);
        else
            pleat_string_add(out, "?");
        text += length;
    }
    if (cut && columns > dots_width)
        pleat_string_add(out, dots);
}

int pleat_term_width(const struct pleat_term *term, const char *text)
{
    int width = 0;
    for (size_t length; *text; text += length) {
        length = character(text);
        const char *ascii = in_ascii(term, text, length);
        width += ascii ? (int)strlen(ascii) : 1;
    }
    return width;
}

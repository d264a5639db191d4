#include "figure/term.h"

/* Bytes of the character at text. A broken sequence is one character of one byte. */
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
        if (printable(term, text, length))
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
    (void)term;
    int width = 0;
    for (; *text; text += character(text))
        width++;
    return width;
}

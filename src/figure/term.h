/* term.h - what a terminal (or pipe) can show. */
#ifndef PLEAT_FIGURE_TERM_H
#define PLEAT_FIGURE_TERM_H

#include <stdbool.h>

#include "base/array.h"

struct pleat_term {
    int width;     /* columns: the terminal's, else $COLUMNS, else 80 */
    int height;    /* rows, 0 where there is no terminal */
    bool limited;  /* the width is real: longer lines would be cut or wrapped */
    bool terminal; /* stdout is a terminal */
    /* stdout is a terminal, and neither --no-color nor NO_COLOR nor TERM=dumb is given */
    bool colour;
    bool utf8; /* the locale's encoding is UTF-8 */
};

/* Appends text that is safe to print. Control characters become '?'. Where the locale is not UTF-8,
 * so do all characters that are not ASCII, except signs that have a form in ASCII, such as "+-". At
 * most `columns` characters (0: no limit); a longer text is cut with "..." or its Unicode form. */
void pleat_term_add(const struct pleat_term *term, struct pleat_string *out, const char *text,
                    int columns);
/* The number of columns that pleat_term_add's whole text takes: one for each character. */
int pleat_term_width(const struct pleat_term *term, const char *text);

#endif

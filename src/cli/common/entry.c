#include "cli/common/entry.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

enum { NARROWEST = 24 };

int pleat_entry_width(const struct pleat_term *term, int otherwise)
{
    if (!term->limited)
        return otherwise;
    return term->width < NARROWEST ? NARROWEST : term->width;
}

void pleat_entry_print(const struct pleat_term *term, int indent, int width, const char *label,
                       const char *text)
{
    struct pleat_string clean = {0};
    int at = 0;
    pleat_term_add(term, &clean, text, 0);
    const char *word = clean.text ? clean.text : "";
    if (indent)
        printf("%-*s", indent, label);
    while (*word) {
        int length = (int)strcspn(word, " ");
        char one[512];
        snprintf(one, sizeof(one), "%.*s", length, word);
        int columns = pleat_term_width(term, one);
        if (at > 0 && width && indent + at + 1 + columns > width) {
            printf("\n%*s", indent, "");
            at = 0;
        }
        printf("%s%.*s", at ? " " : "", length, word);
        at += columns + (at > 0);
        word += length;
        word += strspn(word, " ");
    }
    putchar('\n');
    pleat_string_finish(&clean);
}

/* entry.h - "label   text", with lines broken between words, for answers that are no table. */
#ifndef PLEAT_CLI_COMMON_ENTRY_H
#define PLEAT_CLI_COMMON_ENTRY_H

#include "cli/common/term.h"

/* Prints to stdout the label in `indent` columns (0: none), then the text; further lines have the
 * same indent. Lines end before `width` columns where words allow it; 0: lines are not broken.
 * Control characters become '?'. */
void pleat_entry_print(const struct pleat_term *term, int indent, int width, const char *label,
                       const char *text);
/* The width of the terminal; `otherwise` where there is no terminal. */
int pleat_entry_width(const struct pleat_term *term, int otherwise);

#endif

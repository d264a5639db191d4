/* replace.h - writing a file so that its name shows the old one or the whole new one, never part.
 */
#ifndef PLEAT_FIGURE_REPLACE_H
#define PLEAT_FIGURE_REPLACE_H

#include <stdio.h>

#include "base/array.h"
#include "base/error.h"

struct pleat_replacement {
    FILE *file;         /* to be written to */
    char *path, *fresh; /* fresh NULL: path is no plain file, and written to directly */
};

/* Opens a new file beside `path` (beside what it points to, where it is a symbolic link). What is
 * no plain file (a pipe, /dev/stdout) is opened itself; "-" is standard output. Ended by commit or
 * abandon. PLEAT_E_SYSTEM, PLEAT_E_NOMEM: nothing is there to be ended. */
int pleat_replacement_open(struct pleat_replacement *replacement, const char *path,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Puts it in the place of the old one. PLEAT_E_SYSTEM: not all could be written; the old one is
 * unchanged. */
int pleat_replacement_commit(struct pleat_replacement *replacement,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_replacement_abandon(struct pleat_replacement *replacement);

/* All of it at once. */
int pleat_replace_text(const char *path, const struct pleat_string *text,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

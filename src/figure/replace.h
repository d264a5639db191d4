/* replace.h - writes a file so that its name stands for the old file or for the whole new one,
 * never for a part. */
#ifndef PLEAT_FIGURE_REPLACE_H
#define PLEAT_FIGURE_REPLACE_H

#include <stdio.h>

#include "base/array.h"
#include "base/error.h"

struct pleat_replacement {
    FILE *file;         /* to be written to by the caller */
    char *path, *fresh; /* fresh NULL: path is no plain file, and is written to directly */
};

/* Opens a new file beside `path`; beside its target, where `path` is a symbolic link. A path that
 * is no plain file (a pipe, /dev/stdout) is opened itself; "-" is standard output. Every
 * replacement must be ended by commit or abandon, but not after an error: PLEAT_E_SYSTEM,
 * PLEAT_E_NOMEM. */
int pleat_replacement_open(struct pleat_replacement *replacement, const char *path,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Replaces the old file by the new one. PLEAT_E_SYSTEM: not all could be written, and the old file
 * is unchanged. */
int pleat_replacement_commit(struct pleat_replacement *replacement,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_replacement_abandon(struct pleat_replacement *replacement);

/* Replaces a file by a text: open, write and commit in one. */
int pleat_replace_text(const char *path, const struct pleat_string *text,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

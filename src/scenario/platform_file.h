/* platform_file.h - files that describe simulated sites: Pleat's own, whose keys docs/user-guide.md
 * lists, and SimGrid's (simgrid.h). */
#ifndef PLEAT_SCENARIO_PLATFORM_FILE_H
#define PLEAT_SCENARIO_PLATFORM_FILE_H

#include "sim/platform.h"

/* Appends the sites of a file to *platform. Their names must be new there. A plain file that begins
 * with '<' is one of SimGrid's; what it has that a platform has not is appended to *notes, a line
 * each. PLEAT_E_INVALID: err begins with "FILE:LINE: ". PLEAT_E_NOTFOUND: the file, or a trace that
 * it names, cannot be read. PLEAT_E_NOMEM. An error leaves the platform unchanged. */
int pleat_platform_read(const char *path, struct pleat_platform *platform,
                        struct pleat_string *notes, struct pleat_error *err) PLEAT_MUST_CHECK;

/* As pleat_platform_read, from a text. Relative paths of traces count as if the text were the file
 * `name`. */
int pleat_platform_read_text(const char *text, const char *name, struct pleat_platform *platform,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

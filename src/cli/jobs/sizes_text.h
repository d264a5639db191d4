/* sizes_text.h - the sizes of a job over time in a few characters. */
#ifndef PLEAT_CLI_JOBS_SIZES_TEXT_H
#define PLEAT_CLI_JOBS_SIZES_TEXT_H

#include <jansson.h>

#include "base/array.h"
#include "cli/common/term.h"

/* Appends "2→4→8→2" (with "->" where the locale is not UTF-8) for [{"processors":2},...]. Equal
 * neighbours are shown once, and a long history is cut in its middle. Appends nothing where there
 * are no sizes. */
void pleat_sizes_add_text(const struct pleat_term *term, const json_t *sizes,
                          struct pleat_string *out);

#endif

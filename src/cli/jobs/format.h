/* format.h - which columns a listing has, as its user says: --format job,name:20,state. */
#ifndef PLEAT_CLI_JOBS_FORMAT_H
#define PLEAT_CLI_JOBS_FORMAT_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/jobs/history.h"

enum { PLEAT_FORMAT_MAX = 24 };

struct pleat_format {
    struct pleat_history_column columns[PLEAT_FORMAT_MAX + 1]; /* ended by one without member */
    int widths[PLEAT_FORMAT_MAX];                              /* 0: as needed */
    char titles[PLEAT_FORMAT_MAX][24];
};

/* Reads a list of members of `known` (which must live as long), each maybe with ":WIDTH", the most
 * characters of a text. The record must stay where it is. PLEAT_E_INVALID; err names what there is.
 */
int pleat_format_read(const char *list, const struct pleat_history_column *known,
                      struct pleat_format *format, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Prints the rows as a table or as CSV. Returns an exit code. */
int pleat_format_print(const struct pleat_format *format, const json_t *rows, bool csv);

#endif

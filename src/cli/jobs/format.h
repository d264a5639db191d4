/* format.h - the columns of a listing, as its user chooses them: --format job,name:20,state. */
#ifndef PLEAT_CLI_JOBS_FORMAT_H
#define PLEAT_CLI_JOBS_FORMAT_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/jobs/history.h"

enum { PLEAT_FORMAT_MAX = 24 };

struct pleat_format {
    /* a column without member ends them */
    struct pleat_history_column columns[PLEAT_FORMAT_MAX + 1];
    int widths[PLEAT_FORMAT_MAX]; /* in characters; 0: as wide as needed */
    char titles[PLEAT_FORMAT_MAX][24];
};

/* Reads a list of members of `known` (borrowed for the life of *format). A member may be followed
 * by ":WIDTH", the most characters of its texts. *format must not be moved. PLEAT_E_INVALID: err
 * lists the known members. */
int pleat_format_read(const char *list, const struct pleat_history_column *known,
                      struct pleat_format *format, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Prints the rows as a table or as CSV. Returns an exit code. */
int pleat_format_print(const struct pleat_format *format, const json_t *rows, bool csv);

#endif

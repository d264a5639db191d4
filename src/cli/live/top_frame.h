/* top_frame.h - a frame of `pleat top` as lines of text. */
#ifndef PLEAT_CLI_LIVE_TOP_FRAME_H
#define PLEAT_CLI_LIVE_TOP_FRAME_H

#include <jansson.h>
#include <stdbool.h>

#include "base/array.h"
#include "cli/common/term.h"

enum pleat_top_sort {
    PLEAT_TOP_QUEUE, /* as they run and stand in the queue */
    PLEAT_TOP_JOB,
    PLEAT_TOP_PROCESSORS,
    PLEAT_TOP_TIME,
    PLEAT_TOP_NAME,
    PLEAT_TOP_SORT_COUNT
};

struct pleat_top_view {
    enum pleat_top_sort sort;
    bool reverse;
    int first;          /* of the jobs: the first that is shown */
    int height;         /* lines in all; 0: no limit */
    const char *status; /* the last line; NULL: none */
};

/* "queue", "job", ... */
const char *pleat_top_sort_name(enum pleat_top_sort sort);
/* Appends lines, each no wider than the terminal where that has a width, each ended by '\n'.
 * Returns how many jobs were left out below. */
int pleat_top_add_frame(const json_t *frame, const struct pleat_top_view *view,
                        const struct pleat_term *term, struct pleat_string *out);

#endif

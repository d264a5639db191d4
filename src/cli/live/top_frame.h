/* top_frame.h - a frame of `pleat top` as lines of text. */
#ifndef PLEAT_CLI_LIVE_TOP_FRAME_H
#define PLEAT_CLI_LIVE_TOP_FRAME_H

#include <jansson.h>
#include <stdbool.h>

#include "base/array.h"
#include "cli/common/term.h"

enum pleat_top_sort {
    PLEAT_TOP_QUEUE, /* running jobs, then the queue in its order */
    PLEAT_TOP_JOB,
    PLEAT_TOP_PROCESSORS,
    PLEAT_TOP_TIME,
    PLEAT_TOP_NAME,
    PLEAT_TOP_SORT_COUNT
};

struct pleat_top_view {
    enum pleat_top_sort sort;
    bool reverse;
    int first;          /* index of the first job that is shown */
    int height;         /* lines of the frame; 0: no limit */
    const char *status; /* the last line; NULL: none */
};

/* The name of an order: "queue", "job", ... */
const char *pleat_top_sort_name(enum pleat_top_sort sort);
/* Appends the lines of a frame, each ended by '\n' and no wider than the terminal, where that has a
 * width. Returns how many jobs were left out below. */
int pleat_top_add_frame(const json_t *frame, const struct pleat_top_view *view,
                        const struct pleat_term *term, struct pleat_string *out);

#endif

/* progress.h - how far a long run is: a line on stderr that is redrawn. Only where stderr is a
 * terminal. */
#ifndef PLEAT_CLI_COMMON_PROGRESS_H
#define PLEAT_CLI_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pleat_progress_bar {
    const char *what; /* in front of the line; NULL: nothing. Borrowed */
    int64_t began_us, drawn_us;
    bool terminal, drawn;
};
void pleat_progress_init(struct pleat_progress_bar *bar);
/* share: of the whole, from 0 to 1. Draws a few times a second, from two seconds after the start
 * on. */
void pleat_progress_draw(struct pleat_progress_bar *bar, double share, size_t runs_done,
                         size_t runs);
void pleat_progress_clear(struct pleat_progress_bar *bar);

#endif

/* term.h - what the terminal (or pipe) on stdout can show. */
#ifndef PLEAT_CLI_COMMON_TERM_H
#define PLEAT_CLI_COMMON_TERM_H

#include "figure/term.h"

/* A line that no terminal bounds is broken before this column, so that it can be read in a pager.
 */
#define PLEAT_PIPE_WIDTH 100

void pleat_term_init(struct pleat_term *term);

#endif

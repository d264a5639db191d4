/* term.h - what the terminal (or pipe) on stdout can show. */
#ifndef PLEAT_CLI_COMMON_TERM_H
#define PLEAT_CLI_COMMON_TERM_H

#include "figure/term.h"

/* The column before which lines are broken where there is no terminal, so that they can be read in
 * a pager. */
#define PLEAT_PIPE_WIDTH 100

void pleat_term_init(struct pleat_term *term);

#endif

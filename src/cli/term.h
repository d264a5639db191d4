/* term.h - what the terminal (or pipe) on stdout can show. */
#ifndef PLEAT_CLI_TERM_H
#define PLEAT_CLI_TERM_H

#include "figure/term.h"

void pleat_term_init(struct pleat_term *term);

#endif

/* published.h - pleat experiment --list: which results of each paper are reproduced. */
#ifndef PLEAT_CLI_SIM_PUBLISHED_H
#define PLEAT_CLI_SIM_PUBLISHED_H

/* Prints a row for each figure and table of the papers, or the same as JSON. Returns an exit
 * code. */
int pleat_published_print(void);

#endif

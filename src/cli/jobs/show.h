/* show.h - the lines of pleat show */
#ifndef PLEAT_CLI_JOBS_SHOW_H
#define PLEAT_CLI_JOBS_SHOW_H

#include <jansson.h>

#include "base/array.h"
#include "cli/common/term.h"

/* Looks what the terminal can do, and returns that. Before the first line. */
const struct pleat_term *pleat_show_begin(void);
/* The same, from then on. */
const struct pleat_term *pleat_show_term(void);
/* Prints "name  value", as it may be shown in a terminal. */
void pleat_show_line(const char *name, const struct pleat_string *value);
/* value: NULL or empty: "-". */
void pleat_show_text(const char *name, const char *value);

/* ---- about the program of a job, where there is something to say ---- */

void pleat_show_folded(const json_t *job);
void pleat_show_iterations(const json_t *job, struct pleat_string *text);
/* What its iterations take by process grid, where its program says on which one it computes. */
void pleat_show_grids(const json_t *job);
/* The curve that was learned of it, in characters. */
void pleat_show_curve(const json_t *job);
void pleat_show_checkpoint(const json_t *checkpoint);
void pleat_show_saved(const json_t *job);
void pleat_show_points(const json_t *job);
void pleat_show_expectation(const json_t *expects);

#endif

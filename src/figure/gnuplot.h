/* gnuplot.h - one run of gnuplot. */
#ifndef PLEAT_FIGURE_GNUPLOT_H
#define PLEAT_FIGURE_GNUPLOT_H

#include "base/array.h"

/* Runs a script; what gnuplot prints is appended to *out. No shell, no settings of the user's.
 * PLEAT_E_NOTFOUND: it is not installed; PLEAT_E_INVALID: it failed, err has its first words;
 * PLEAT_E_SYSTEM, PLEAT_E_NOMEM. Blocks. */
int pleat_gnuplot_run(const struct pleat_string *script, struct pleat_string *out,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Any program that makes its output of its standard input, in the same way; arguments end with
 * NULL.
 */
int pleat_filter_run(const char *const *arguments, const struct pleat_string *input,
                     struct pleat_string *out, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

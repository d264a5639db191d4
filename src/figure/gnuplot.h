/* gnuplot.h - one run of gnuplot. */
#ifndef PLEAT_FIGURE_GNUPLOT_H
#define PLEAT_FIGURE_GNUPLOT_H

#include "base/array.h"

/* Runs a script. What gnuplot prints is appended to *out. Uses neither a shell nor the user's
 * settings. Blocks. PLEAT_E_NOTFOUND: gnuplot is not installed. PLEAT_E_INVALID: gnuplot failed;
 * err has its first words. PLEAT_E_SYSTEM, PLEAT_E_NOMEM. */
int pleat_gnuplot_run(const struct pleat_string *script, struct pleat_string *out,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Runs in the same way any program that reads its standard input and writes its standard output.
 * NULL ends the arguments. */
int pleat_filter_run(const char *const *arguments, const struct pleat_string *input,
                     struct pleat_string *out, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

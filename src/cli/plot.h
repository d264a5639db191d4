/* plot.h - figures by gnuplot: curves, steps, histograms, as SVG files or as text in the terminal.
 */
#ifndef PLEAT_CLI_PLOT_H
#define PLEAT_CLI_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "cli/term.h"

struct pleat_plot_series {
    const char *title;
    const double *x, *y; /* borrowed */
    size_t count;
};

enum pleat_plot_style { PLEAT_PLOT_LINES, PLEAT_PLOT_STEPS, PLEAT_PLOT_BARS };

struct pleat_plot { /* one panel */
    const char *title, *x_label, *y_label;
    enum pleat_plot_style style;
    bool log_x;
    double y_least, y_most; /* equal: as the data need */
    const struct pleat_plot_series *series;
    size_t series_count;
};

/* Panels below one another in one SVG file, replaced as a whole. PLEAT_E_NOTFOUND: gnuplot is not
 * installed; err says what to install. Blocks until gnuplot is done. */
int pleat_plot_write_svg(const struct pleat_plot *panels, size_t count, const char *path,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same in characters, as wide as the terminal (at most 100 columns). */
int pleat_plot_add_text(const struct pleat_plot *panel, const struct pleat_term *term,
                        struct pleat_string *out, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

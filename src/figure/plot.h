/* plot.h - figures by gnuplot: curves, steps and histograms, as SVG files or as text in the
 * terminal. */
#ifndef PLEAT_FIGURE_PLOT_H
#define PLEAT_FIGURE_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "figure/term.h"

struct pleat_plot_series {
    const char *title;   /* in the key; NULL: the series is not in the key */
    const double *x, *y; /* borrowed; a value that is not finite makes a gap */
    size_t count;
};

/* The interval around each y of a series. It is a band along a curve, which is then drawn through
 * all its points, or a line on a bar. Text shows no intervals. NULL: the series has none. Borrowed.
 */
struct pleat_plot_band {
    const double *low, *high;
};

/* STEPS: y holds from its x to the next x. AREAS: as STEPS, filled down to 0. BARS: from 0 up,
 * those of several series side by side. */
enum pleat_plot_style { PLEAT_PLOT_LINES, PLEAT_PLOT_STEPS, PLEAT_PLOT_BARS, PLEAT_PLOT_AREAS };

struct pleat_plot_tic {
    double x;
    const char *text; /* borrowed */
};

struct pleat_plot { /* one panel */
    const char *title, *x_label, *y_label;
    enum pleat_plot_style style;
    bool log_x;  /* points with x not above 0 are left out */
    bool time_x; /* with log_x: x is in seconds, with tics at 1 s, 1 min, 1 h, 1 d */
    /* equal: from 0 (or the least value, where that is negative) to the greatest value */
    double y_least, y_most;
    const struct pleat_plot_series *series;
    const struct pleat_plot_band *bands; /* of each series; NULL: there are none */
    size_t series_count;
    size_t number;                     /* number of the colour of the first series */
    const struct pleat_plot_tic *tics; /* tics of x; NULL: gnuplot's. Borrowed */
    size_t tic_count;
    /* texts instead of numbers: x_names[i] at x[i] of the first series, "" for none; NULL: numbers.
     * Borrowed */
    const char *const *x_names;
};

/* Appends an SVG document with the panels below one another. Blocks until gnuplot is done.
 * PLEAT_E_NOTFOUND: gnuplot is not installed; err says what to install. PLEAT_E_INVALID: gnuplot
 * failed; err has its words. PLEAT_E_SYSTEM, PLEAT_E_NOMEM. */
int pleat_plot_add_svg(const struct pleat_plot *panels, size_t count, struct pleat_string *svg,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* As pleat_plot_add_svg, with `columns` panels side by side (at least 1). Several in a row are
 * narrower and drawn more coarsely, so that pages of many panels stay small. */
int pleat_plot_add_svg_columns(const struct pleat_plot *panels, size_t count, size_t columns,
                               struct pleat_string *svg, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Writes a file with one panel in each row, in the format of its name (picture.h). The file is
 * replaced as a whole. */
int pleat_plot_write(const struct pleat_plot *panels, size_t count, const char *path,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends a panel in characters, as wide as the terminal (at most 100 columns). It is ASCII, except
 * for titles and names. */
int pleat_plot_add_text(const struct pleat_plot *panel, const struct pleat_term *term,
                        struct pleat_string *out, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- thinning ---- */

struct pleat_plot_point {
    double x, y;
};
PLEAT_ARRAY(pleat_plot_points, struct pleat_plot_point);

/* Appends the points of a curve that can be seen in a picture that is `columns` pixels wide. Of
 * neighbours that share a pixel column these are the first, the lowest, the highest and the last
 * (M4; Jugel et al. 2014), in their order. Lines and steps through them cover the same pixels as
 * those through all points. A gap is a point with y NAN. low, high: x at the edges of the picture.
 * Returns 0 or PLEAT_E_NOMEM. */
int pleat_plot_thin(const struct pleat_plot_series *series, double low, double high, bool log_x,
                    size_t columns, struct pleat_plot_points *points) PLEAT_MUST_CHECK;

#endif

/* plot.h - figures by gnuplot: curves, steps, histograms, as SVG files or as text in the terminal.
 */
#ifndef PLEAT_FIGURE_PLOT_H
#define PLEAT_FIGURE_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "figure/term.h"

struct pleat_plot_series {
    const char *title;   /* for the key; NULL: has no entry there */
    const double *x, *y; /* borrowed. What is not finite makes a gap */
    size_t count;
};

/* The interval around each y of a series: a band along a curve (which is drawn through all its
 * points then), a line on a bar; none in text. NULL: the series has none. Borrowed. */
struct pleat_plot_band {
    const double *low, *high;
};

/* STEPS: y holds from its x to the next one's. AREAS: the same, filled down to 0. BARS: side by
 * side where there are several series, from 0 up. */
enum pleat_plot_style { PLEAT_PLOT_LINES, PLEAT_PLOT_STEPS, PLEAT_PLOT_BARS, PLEAT_PLOT_AREAS };

struct pleat_plot_tic {
    double x;
    const char *text; /* borrowed */
};

struct pleat_plot { /* one panel */
    const char *title, *x_label, *y_label;
    enum pleat_plot_style style;
    bool log_x;             /* x not above 0 is left out */
    bool time_x;            /* with log_x: x is seconds, marked as 1 s, 1 min, 1 h, 1 d */
    double y_least, y_most; /* equal: from 0, or the least where that is negative, to the most */
    const struct pleat_plot_series *series;
    const struct pleat_plot_band *bands; /* of each series, or NULL */
    size_t series_count;
    size_t number;                     /* of the colour of its first series */
    const struct pleat_plot_tic *tics; /* where not NULL: the marks of x. Borrowed */
    size_t tic_count;
    const char *const *x_names; /* where not NULL: instead of numbers, x_names[i] at the first
                                 * series' x[i]; "" for none there. Borrowed */
};

/* Appends an SVG document: panels below one another. PLEAT_E_NOTFOUND: gnuplot is not installed;
 * err says what to install. PLEAT_E_INVALID: gnuplot failed, err has its words. PLEAT_E_SYSTEM,
 * PLEAT_E_NOMEM. Blocks until gnuplot is done. */
int pleat_plot_add_svg(const struct pleat_plot *panels, size_t count, struct pleat_string *svg,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same with `columns` panels side by side (at least 1): narrower and drawn more coarsely where
 * there are several, so that pages of many stay small. */
int pleat_plot_add_svg_columns(const struct pleat_plot *panels, size_t count, size_t columns,
                               struct pleat_string *svg, struct pleat_error *err) PLEAT_MUST_CHECK;
/* As a file with one panel in a row, in the format of its name (picture.h), replaced as a whole. */
int pleat_plot_write(const struct pleat_plot *panels, size_t count, const char *path,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same in characters, as wide as the terminal (at most 100 columns); ASCII but for titles and
 * names. */
int pleat_plot_add_text(const struct pleat_plot *panel, const struct pleat_term *term,
                        struct pleat_string *out, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- thinning ---- */

struct pleat_plot_point {
    double x, y;
};
PLEAT_ARRAY(pleat_plot_points, struct pleat_plot_point);

/* Appends those points of a curve that show in a picture `columns` pixels wide: of the neighbours
 * that share a pixel column the first, the lowest, the highest and the last (Jugel et al. 2014,
 * M4), in their order, so both the line that joins them and their steps cover the same pixels as
 * all of them. A gap is a point with y NAN. low, high: the x at the picture's edges. 0 or
 * PLEAT_E_NOMEM. */
int pleat_plot_thin(const struct pleat_plot_series *series, double low, double high, bool log_x,
                    size_t columns, struct pleat_plot_points *points) PLEAT_MUST_CHECK;

#endif

/* plot_panel.h - one panel of a picture, in gnuplot's script. */
#ifndef PLEAT_FIGURE_PLOT_PANEL_H
#define PLEAT_FIGURE_PLOT_PANEL_H

#include "figure/plot.h"

/* A panel that is being written, for one kind of picture. */
struct pleat_drawing {
    const struct pleat_plot *panel;
    const struct pleat_term *term; /* NULL: SVG */
    struct pleat_string *out;
    size_t columns;
    bool log_x;
    double low, high; /* range of x that is shown */
    double y_least, y_most;
    double slot_width; /* BARS: the least distance between neighbours */
    size_t shown;      /* number of points, in all series */
};

/* Appends what draws d->panel to d->out. The caller sets panel, term, out and columns; the rest is
 * measured. PLEAT_E_NOMEM. */
int pleat_plot_add_panel(struct pleat_drawing *d) PLEAT_MUST_CHECK;

#endif

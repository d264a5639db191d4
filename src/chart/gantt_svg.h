/* gantt_svg.h - what gantt_svg.c and gantt_svg_rows.c share. */
#ifndef PLEAT_CHART_GANTT_SVG_H
#define PLEAT_CHART_GANTT_SVG_H

#include "chart/gantt_colours.h"

/* in pixels */
#define PLEAT_SVG_WIDTH 1000.0
#define PLEAT_SVG_LEFT 66.0
#define PLEAT_SVG_RIGHT 24.0
#define PLEAT_SVG_TOP 62.0
#define PLEAT_SVG_LANE 17.0
#define PLEAT_SVG_LANES_MAX 24
#define PLEAT_SVG_STRIP 64.0
#define PLEAT_SVG_LETTER 6.3 /* approximate width of a letter in the 11 px font */

struct pleat_svg_drawing {
    const struct pleat_gantt *gantt;
    struct pleat_string *out;
    PLEAT_ARRAY(, struct pleat_gantt_interval) boxes; /* intervals; adjacent ones are joined */
    struct pleat_gantt_colours colours;
    double lane_end[PLEAT_SVG_LANES_MAX];
    int lanes;
    size_t lanes_full; /* jobs for whose arrival no lane was free */
    double rows_top, row_height, rows_bottom;
};

double pleat_svg_x(const struct pleat_svg_drawing *d, double time);
double pleat_svg_y(const struct pleat_svg_drawing *d, int64_t row);
/* A colour below PLEAT_GANTT_COLOURS; the colour of a job. */
const char *pleat_svg_colour(size_t index);
const char *pleat_svg_fill(const struct pleat_svg_drawing *d, size_t job);
/* Whether a text on the job's colour is to be white. */
bool pleat_svg_is_dark(const struct pleat_svg_drawing *d, size_t job);
void pleat_svg_add_escaped(struct pleat_string *out, const char *text);
/* Whether any part of the job is in the window. */
bool pleat_svg_in_window(const struct pleat_svg_drawing *d, size_t job);

/* Each function appends to d->out. Waiting jobs come first, since the number of their lanes gives
 * the top of the rows of processors. Boxes must be made before processors and the strip are added.
 */
void pleat_svg_add_waits(struct pleat_svg_drawing *d);
void pleat_svg_make_boxes(struct pleat_svg_drawing *d);
void pleat_svg_add_grid(struct pleat_svg_drawing *d, double top, double bottom);
void pleat_svg_add_processors(struct pleat_svg_drawing *d);
/* utilization */
void pleat_svg_add_strip(struct pleat_svg_drawing *d, double top);

#endif

/* svg_drawing.c - the positions of times and rows in the drawing, and the colours. The colours
 * follow Okabe and Ito (2008) and Tol, so that all readers can tell them apart. */
#include "chart/gantt_svg.h"

#include <math.h>

static const struct {
    const char *fill;
    bool dark;
} colours[] = {{"#0072B2", true},  {"#E69F00", false}, {"#009E73", true},  {"#CC79A7", false},
               {"#56B4E9", false}, {"#D55E00", true},  {"#F0E442", false}, {"#332288", true},
               {"#AA4499", true},  {"#882255", true},  {"#44AA99", false}, {"#999933", false}};

#define COLOUR_COUNT (sizeof(colours) / sizeof(colours[0]))
_Static_assert(COLOUR_COUNT == PLEAT_GANTT_COLOURS, "each colour is defined here");

double pleat_svg_x(const struct pleat_svg_drawing *d, double time)
{
    const struct pleat_gantt *gantt = d->gantt;
    double within = fmin(fmax(time, gantt->from_s), gantt->to_s);
    return PLEAT_SVG_LEFT + (within - gantt->from_s) / (gantt->to_s - gantt->from_s) *
                                (PLEAT_SVG_WIDTH - PLEAT_SVG_LEFT - PLEAT_SVG_RIGHT);
}

double pleat_svg_y(const struct pleat_svg_drawing *d, int64_t row)
{
    return d->rows_top + (double)row * d->row_height;
}

const char *pleat_svg_colour(size_t index)
{
    return colours[index].fill;
}

const char *pleat_svg_fill(const struct pleat_svg_drawing *d, size_t job)
{
    return pleat_svg_colour(d->colours.of_job[job]);
}

bool pleat_svg_is_dark(const struct pleat_svg_drawing *d, size_t job)
{
    return colours[d->colours.of_job[job]].dark;
}

void pleat_svg_add_escaped(struct pleat_string *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '&')
            pleat_string_add(out, "&amp;");
        else if (*text == '<')
            pleat_string_add(out, "&lt;");
        else if (*text == '>')
            pleat_string_add(out, "&gt;");
        else if (*text == '"')
            pleat_string_add(out, "&quot;");
        else if ((unsigned char)*text < ' ' || *text == 127)
            pleat_string_add(out, "?");
        else
            pleat_string_add_bytes(out, text, 1);
    }
}

bool pleat_svg_in_window(const struct pleat_svg_drawing *d, size_t job)
{
    const struct pleat_gantt_job *j = &d->gantt->jobs.items[job];
    return j->submit_s < d->gantt->to_s && !(isfinite(j->end_s) && j->end_s <= d->gantt->from_s);
}

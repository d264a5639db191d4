/* gantt_svg.c - the chart as a drawing: waiting jobs above, processors in the middle, utilization
 * and the legend below. */
#include "chart/gantt_svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/timefmt.h"
#include "figure/picture.h"

/* ---- head ---- */

static size_t jobs_shown(const struct pleat_svg_drawing *d)
{
    size_t count = 0;
    for (size_t i = 0; i < d->gantt->jobs.count; i++)
        count += pleat_svg_in_window(d, i);
    return count;
}

static void add_head(struct pleat_svg_drawing *d, double height)
{
    char span[PLEAT_TIME_SIZE];
    const struct pleat_gantt *gantt = d->gantt;
    pleat_string_addf(
        d->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %.0f\" width=\"%g\" "
        "height=\"%.0f\" font-family=\"Inter, 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', "
        "sans-serif\" font-size=\"11\" fill=\"#333\">\n"
        "<title>Who held which processors when</title>\n<defs>\n",
        PLEAT_SVG_WIDTH, height, PLEAT_SVG_WIDTH, height);
    for (size_t i = 0; i < PLEAT_GANTT_COLOURS; i++)
        pleat_string_addf(
            d->out,
            "<pattern id=\"growth%zu\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
            "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"%s\" "
            "fill-opacity=\"0.2\"/><rect width=\"3\" height=\"6\" fill=\"%s\"/></pattern>\n"
            "<pattern id=\"earmark%zu\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
            "patternTransform=\"rotate(-45)\"><rect width=\"5\" height=\"5\" fill=\"#fff\"/><rect "
            "width=\"1.4\" height=\"5\" fill=\"%s\"/></pattern>\n",
            i, pleat_svg_colour(i), pleat_svg_colour(i), i, pleat_svg_colour(i));
    pleat_string_addf(d->out,
                      "</defs>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
                      "<text x=\"%g\" y=\"26\" font-size=\"17\" font-weight=\"600\" "
                      "fill=\"#111\">Who held which processors when</text>\n"
                      "<text x=\"%g\" y=\"45\" font-size=\"12\" fill=\"#666\">%lld processors, %zu "
                      "job%s, %s; %.0f %% of the processors in use",
                      PLEAT_SVG_LEFT, PLEAT_SVG_LEFT, (long long)gantt->rows, jobs_shown(d),
                      jobs_shown(d) == 1 ? "" : "s",
                      pleat_time_span(gantt->to_s - gantt->from_s, span),
                      pleat_gantt_utilization(gantt) * 100);
    if (d->lanes_full)
        pleat_string_addf(d->out, "; there is no room for %zu of the arrivals", d->lanes_full);
    pleat_string_add(d->out, "</text>\n");
}

/* ---- legend ---- */

static bool uses(const struct pleat_svg_drawing *d, enum pleat_gantt_use use)
{
    for (size_t i = 0; i < d->boxes.count; i++)
        if (d->boxes.items[i].use == use)
            return true;
    return false;
}

struct legend {
    double x, y;
};

static void legend_place(struct legend *legend, double width)
{
    if (legend->x > PLEAT_SVG_LEFT && legend->x + width > PLEAT_SVG_WIDTH - PLEAT_SVG_RIGHT) {
        legend->x = PLEAT_SVG_LEFT;
        legend->y += 20;
    }
}

static void legend_key(struct pleat_svg_drawing *d, const struct legend *legend, const char *fill,
                       const char *more)
{
    pleat_string_addf(d->out,
                      "<rect x=\"%.1f\" y=\"%.1f\" width=\"20\" height=\"12\" fill=\"%s\"%s/>"
                      "<text x=\"%.1f\" y=\"%.1f\" font-size=\"12\">",
                      legend->x, legend->y - 10, fill, more, legend->x + 26, legend->y);
}

/* Adds the legend of groups: what their colours mean. */
static void add_groups(struct pleat_svg_drawing *d, struct legend *legend)
{
    pleat_string_addf(d->out, "<text x=\"%g\" y=\"%.1f\" font-size=\"12\">%s</text>\n",
                      PLEAT_SVG_LEFT, legend->y, d->colours.by);
    legend->x = PLEAT_SVG_LEFT + 12 + (double)strlen(d->colours.by) * 7;
    for (size_t i = 0; i < d->colours.count; i++) {
        const struct pleat_gantt_group *group = &d->colours.groups[i];
        double width = 26 + ((double)strlen(group->name) + 13) * 7;
        if (group->jobs == 0)
            continue;
        legend_place(legend, width);
        legend_key(d, legend, pleat_svg_colour(i), "");
        pleat_svg_add_escaped(d->out, group->name);
        pleat_string_addf(d->out, " (%zu job%s)</text>\n", group->jobs,
                          group->jobs == 1 ? "" : "s");
        legend->x += width;
    }
}

static double add_legend(struct pleat_svg_drawing *d, double top)
{
    static const char *const meaning[] = {[PLEAT_GANTT_GROWTH] =
                                              "claimed to grow into, not yet running there",
                                          [PLEAT_GANTT_EARMARK] = "kept for the job that waits",
                                          [PLEAT_GANTT_LEAVING] = "on the way back"};
    struct legend legend = {PLEAT_SVG_LEFT, top + 12};
    if (d->colours.grouped)
        add_groups(d, &legend);
    for (size_t i = 0; !d->colours.grouped && i < d->gantt->jobs.count; i++) {
        const struct pleat_gantt_job *job = &d->gantt->jobs.items[i];
        double width = 26 + ((double)strlen(job->name) + 8) * 7;
        if (!pleat_svg_in_window(d, i))
            continue;
        legend_place(&legend, width);
        legend_key(d, &legend, pleat_svg_fill(d, i), "");
        pleat_string_addf(d->out, "%lld ", (long long)job->job);
        pleat_svg_add_escaped(d->out, job->name);
        pleat_string_add(d->out, "</text>\n");
        legend.x += width;
    }
    legend = (struct legend){PLEAT_SVG_LEFT, legend.y + 22};
    for (int use = PLEAT_GANTT_GROWTH; use < PLEAT_GANTT_USE_COUNT; use++) {
        char fill[32];
        if (!uses(d, (enum pleat_gantt_use)use))
            continue;
        double width = 40 + (double)strlen(meaning[use]) * 6.6;
        snprintf(fill, sizeof(fill), "url(#%s0)", pleat_gantt_use_name((enum pleat_gantt_use)use));
        legend_place(&legend, width);
        legend_key(d, &legend, use == PLEAT_GANTT_LEAVING ? pleat_svg_colour(0) : fill,
                   use == PLEAT_GANTT_LEAVING ? " fill-opacity=\"0.45\"" : "");
        pleat_string_addf(d->out, "%s</text>\n", meaning[use]);
        legend.x += width;
    }
    return legend.y + (legend.x > PLEAT_SVG_LEFT ? 14 : -8);
}

/* ---- all of it ---- */

static void add_body(struct pleat_svg_drawing *d)
{
    struct pleat_string waits = {0}, *page = d->out;
    const struct pleat_gantt *gantt = d->gantt;
    d->out = &waits; /* only afterwards the number of their lanes is known */
    pleat_svg_add_waits(d);
    d->out = page;
    double rows = gantt->rows > 0 ? (double)gantt->rows : 1;
    d->rows_top = PLEAT_SVG_TOP + d->lanes * PLEAT_SVG_LANE + (d->lanes ? 8 : 0);
    d->row_height = fmin(28, fmax(400 / rows, 0.5));
    d->row_height = fmin(d->row_height, 4000 / rows);
    d->rows_bottom = d->rows_top + rows * d->row_height;
    double strip = d->rows_bottom + 16, axis = strip + PLEAT_SVG_STRIP;
    pleat_svg_add_grid(d, PLEAT_SVG_TOP - 6, axis);
    pleat_string_add(d->out, waits.text ? waits.text : "");
    if (waits.failed)
        d->out->failed = 1;
    pleat_string_finish(&waits);
    pleat_svg_add_processors(d);
    pleat_svg_add_strip(d, strip);
}

void pleat_gantt_add_svg(const struct pleat_gantt *gantt, struct pleat_string *out)
{
    struct pleat_string body = {0};
    struct pleat_svg_drawing d = {.gantt = gantt, .out = &body};
    if (pleat_gantt_colours_init(&d.colours, gantt, jobs_shown(&d))) {
        pleat_gantt_colours_finish(&d.colours);
        out->failed = 1;
        return;
    }
    pleat_svg_make_boxes(&d);
    add_body(&d);
    double height = add_legend(&d, d.rows_bottom + 16 + PLEAT_SVG_STRIP + 48);
    d.out = out;
    add_head(&d, height);
    pleat_string_add(out, body.text ? body.text : "");
    pleat_string_add(out, "</svg>\n");
    if (body.failed)
        out->failed = 1;
    pleat_string_finish(&body);
    pleat_array_finish(&d.boxes);
    pleat_gantt_colours_finish(&d.colours);
}

int pleat_gantt_write(const struct pleat_gantt *gantt, const char *path, struct pleat_error *err)
{
    struct pleat_string svg = {0};
    pleat_gantt_add_svg(gantt, &svg);
    int rc = pleat_picture_write(path, &svg, err);
    pleat_string_finish(&svg);
    return rc;
}

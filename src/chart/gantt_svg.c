/* gantt_svg.c - the chart as a drawing: waiting jobs above, processors in the middle, utilization
 * and the legend below. Colours after Okabe and Ito (2008) and Tol, to be told apart by all
 * readers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/timefmt.h"
#include "chart/gantt.h"
#include "chart/gantt_colours.h"
#include "chart/time_axis.h"
#include "figure/picture.h"

#define WIDTH 1000.0
#define LEFT 66.0
#define RIGHT 24.0
#define TOP 62.0
#define LANE 17.0
#define LANES_MAX 24
#define STRIP 64.0
#define LETTER 6.3 /* the width of a letter of the 11 px font, roughly */

static const struct {
    const char *fill;
    bool dark;
} colours[] = {{"#0072B2", true},  {"#E69F00", false}, {"#009E73", true},  {"#CC79A7", false},
               {"#56B4E9", false}, {"#D55E00", true},  {"#F0E442", false}, {"#332288", true},
               {"#AA4499", true},  {"#882255", true},  {"#44AA99", false}, {"#999933", false}};

#define COLOUR_COUNT (sizeof(colours) / sizeof(colours[0]))
_Static_assert(COLOUR_COUNT == PLEAT_GANTT_COLOURS, "each colour is defined here");

struct drawing {
    const struct pleat_gantt *gantt;
    struct pleat_string *out;
    PLEAT_ARRAY(, struct pleat_gantt_interval) boxes; /* intervals, those that touch made one */
    struct pleat_gantt_colours colours;
    double lane_end[LANES_MAX];
    int lanes;
    size_t lanes_full; /* jobs for whose arrival there was no lane left */
    double rows_top, row_height, rows_bottom;
};

static double x_of(const struct drawing *d, double time)
{
    const struct pleat_gantt *gantt = d->gantt;
    double within = fmin(fmax(time, gantt->from_s), gantt->to_s);
    return LEFT + (within - gantt->from_s) / (gantt->to_s - gantt->from_s) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct drawing *d, int64_t row)
{
    return d->rows_top + (double)row * d->row_height;
}

static const char *fill_of(const struct drawing *d, size_t job)
{
    return colours[d->colours.of_job[job]].fill;
}

static void add_escaped(struct pleat_string *out, const char *text)
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

static bool in_window(const struct drawing *d, size_t job)
{
    const struct pleat_gantt_job *j = &d->gantt->jobs.items[job];
    return j->submit_s < d->gantt->to_s && !(isfinite(j->end_s) && j->end_s <= d->gantt->from_s);
}

/* ---- head ---- */

static size_t jobs_shown(const struct drawing *d)
{
    size_t count = 0;
    for (size_t i = 0; i < d->gantt->jobs.count; i++)
        count += in_window(d, i);
    return count;
}

static void add_head(struct drawing *d, double height)
{
    char span[PLEAT_TIME_SIZE];
    const struct pleat_gantt *gantt = d->gantt;
    pleat_string_addf(
        d->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %.0f\" width=\"%g\" "
        "height=\"%.0f\" font-family=\"Inter, 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', "
        "sans-serif\" font-size=\"11\" fill=\"#333\">\n"
        "<title>Who held which processors when</title>\n<defs>\n",
        WIDTH, height, WIDTH, height);
    for (size_t i = 0; i < COLOUR_COUNT; i++)
        pleat_string_addf(
            d->out,
            "<pattern id=\"growth%zu\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
            "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"%s\" "
            "fill-opacity=\"0.2\"/><rect width=\"3\" height=\"6\" fill=\"%s\"/></pattern>\n"
            "<pattern id=\"earmark%zu\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
            "patternTransform=\"rotate(-45)\"><rect width=\"5\" height=\"5\" fill=\"#fff\"/><rect "
            "width=\"1.4\" height=\"5\" fill=\"%s\"/></pattern>\n",
            i, colours[i].fill, colours[i].fill, i, colours[i].fill);
    pleat_string_addf(
        d->out,
        "</defs>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
        "<text x=\"%g\" y=\"26\" font-size=\"17\" font-weight=\"600\" "
        "fill=\"#111\">Who held which processors when</text>\n"
        "<text x=\"%g\" y=\"45\" font-size=\"12\" fill=\"#666\">%lld processors, %zu "
        "job%s, %s; %.0f %% of the processors in use",
        LEFT, LEFT, (long long)gantt->rows, jobs_shown(d), jobs_shown(d) == 1 ? "" : "s",
        pleat_time_span(gantt->to_s - gantt->from_s, span), pleat_gantt_utilization(gantt) * 100);
    if (d->lanes_full)
        pleat_string_addf(d->out, "; there is no room for %zu of the arrivals", d->lanes_full);
    pleat_string_add(d->out, "</text>\n");
}

/* ---- waiting jobs ---- */

static double waited_until(const struct drawing *d, const struct pleat_gantt_job *job)
{
    if (isfinite(job->start_s))
        return job->start_s;
    return isfinite(job->end_s) ? job->end_s : d->gantt->to_s;
}

/* The first lane that is free at x; -1 where none is. */
static int take_lane(struct drawing *d, double x, double until)
{
    int lane = 0;
    while (lane < d->lanes && d->lane_end[lane] > x)
        lane++;
    if (lane == LANES_MAX) {
        d->lanes_full++;
        return -1;
    }
    if (lane >= d->lanes)
        d->lanes = lane + 1;
    d->lane_end[lane] = until + 8;
    return lane;
}

static void add_wait(struct drawing *d, size_t index)
{
    const struct pleat_gantt_job *job = &d->gantt->jobs.items[index];
    double from = x_of(d, job->submit_s), to = x_of(d, waited_until(d, job));
    char span[PLEAT_TIME_SIZE], text[64];
    double waited = waited_until(d, job) - job->submit_s;
    bool arrived = job->submit_s >= d->gantt->from_s && job->submit_s <= d->gantt->to_s;
    if (to - from > 8)
        snprintf(text, sizeof(text), "job %lld waits %s", (long long)job->job,
                 pleat_time_span(waited, span));
    else
        snprintf(text, sizeof(text), "job %lld", (long long)job->job);
    double width = (double)strlen(text) * LETTER;
    bool left = to + 7 + width > WIDTH; /* no room at the right of its line */
    bool long_enough = to - from > 8;   /* for a line beside the triangle */
    double end = long_enough ? to : from;
    int lane = take_lane(d, left ? from - 7 - width : from - 5, left ? to : end + 7 + width);
    double y = TOP + 8 + lane * LANE;
    if (lane < 0)
        return;
    if (long_enough)
        pleat_string_addf(d->out,
                          "<path d=\"M%.1f %.1f H%.1f\" stroke=\"%s\" stroke-width=\"2\" "
                          "stroke-dasharray=\"5 3\"/><path d=\"M%.1f %.1f v8\" stroke=\"%s\" "
                          "stroke-width=\"2\"/>\n",
                          arrived ? from + 5 : from, y, to, fill_of(d, index), to, y - 4,
                          fill_of(d, index));
    if (arrived)
        pleat_string_addf(d->out,
                          "<path d=\"M%.1f %.1f l-4.5 -8 h9 z\" fill=\"%s\"><title>arrival of job "
                          "%lld</title></path>\n",
                          from, y + 4, fill_of(d, index), (long long)job->job);
    pleat_string_addf(d->out, "<text x=\"%.1f\" y=\"%.1f\"%s>%s</text>\n",
                      left ? from - 7 : end + 7, y + 4, left ? " text-anchor=\"end\"" : "", text);
}

/* ---- processors ---- */

static int compare_boxes(const void *left, const void *right)
{
    const struct pleat_gantt_interval *a = left, *b = right;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    if (a->use != b->use)
        return a->use < b->use ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return a->from_s < b->from_s ? -1 : a->from_s > b->from_s;
}

/* One box for each row and job, without breaks where only the claim changed. */
static void make_boxes(struct drawing *d)
{
    const struct pleat_gantt *gantt = d->gantt;
    for (size_t i = 0; i < gantt->intervals.count; i++) {
        const struct pleat_gantt_interval *interval = &gantt->intervals.items[i];
        if (interval->to_s <= gantt->from_s || interval->from_s >= gantt->to_s)
            continue;
        /* row by row, so that boxes of other counts join */
        bool split = interval->count <= 512 && !gantt->whole;
        for (int64_t row = 0; row < (split ? interval->count : 1); row++) {
            struct pleat_gantt_interval box = *interval;
            box.row += row;
            box.count = split ? 1 : interval->count;
            if (pleat_array_push(&d->boxes, box))
                d->out->failed = 1;
        }
    }
    if (d->boxes.count == 0)
        return;
    qsort(d->boxes.items, d->boxes.count, sizeof(d->boxes.items[0]), compare_boxes);
    size_t last = 0;
    for (size_t i = 1; i < d->boxes.count; i++) {
        struct pleat_gantt_interval *before = &d->boxes.items[last], *box = &d->boxes.items[i];
        if (before->job == box->job && before->use == box->use && before->row == box->row &&
            before->count == box->count && box->from_s <= before->to_s + 1e-4)
            before->to_s = fmax(before->to_s, box->to_s);
        else
            d->boxes.items[++last] = *box;
    }
    d->boxes.count = last + 1;
}

static void add_box(struct drawing *d, const struct pleat_gantt_interval *box)
{
    const struct pleat_gantt_job *job = &d->gantt->jobs.items[box->job];
    double gap = d->row_height >= 6 ? 1.5 : 0;
    double x = x_of(d, box->from_s), width = x_of(d, box->to_s) - x;
    char fill[32];
    if (box->use == PLEAT_GANTT_GROWTH || box->use == PLEAT_GANTT_EARMARK)
        snprintf(fill, sizeof(fill), "url(#%s%zu)", pleat_gantt_use_name(box->use),
                 d->colours.of_job[box->job]);
    else
        snprintf(fill, sizeof(fill), "%s", fill_of(d, box->job));
    pleat_string_addf(d->out,
                      "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                      "fill=\"%s\"%s%s><title>job %lld ",
                      pleat_gantt_use_name(box->use), x, y_of(d, box->row) + gap / 2,
                      fmax(width, 0.3), (double)box->count * d->row_height - gap, fill,
                      box->use == PLEAT_GANTT_LEAVING ? " fill-opacity=\"0.45\"" : "",
                      /* neighbours of one colour are told apart by the line between them */
                      d->colours.grouped ? " stroke=\"#fff\" stroke-width=\"0.6\"" : "",
                      (long long)job->job);
    add_escaped(d->out, job->name);
    pleat_string_addf(d->out, ": %s, %.2f to %.2f s</title></rect>\n",
                      pleat_gantt_use_name(box->use), box->from_s, box->to_s);
}

/* The job's name in its longest box. */
static void add_name(struct drawing *d, size_t index)
{
    const struct pleat_gantt_interval *best = NULL;
    const struct pleat_gantt_job *job = &d->gantt->jobs.items[index];
    for (size_t i = 0; i < d->boxes.count; i++) {
        const struct pleat_gantt_interval *box = &d->boxes.items[i];
        if (box->job == index && box->use == PLEAT_GANTT_RUN &&
            (!best || x_of(d, box->to_s) - x_of(d, box->from_s) >
                          x_of(d, best->to_s) - x_of(d, best->from_s) + 0.5))
            best = box;
    }
    if (!best || (double)best->count * d->row_height < 13)
        return;
    char text[48];
    int length = snprintf(text, sizeof(text), "%lld %.24s", (long long)job->job, job->name);
    double room = x_of(d, best->to_s) - x_of(d, best->from_s) - 8;
    bool ascii = true;
    for (const char *c = text; *c; c++)
        ascii = ascii && (unsigned char)*c < 128;
    if (length * LETTER > room || !ascii) /* the name is cut by bytes: only where that is safe */
        snprintf(text, sizeof(text), "%lld", (long long)job->job);
    if ((double)strlen(text) * LETTER > room)
        return;
    pleat_string_addf(d->out, "<text x=\"%.1f\" y=\"%.1f\" font-weight=\"600\" fill=\"%s\">",
                      x_of(d, best->from_s) + 5,
                      y_of(d, best->row) + (double)best->count * d->row_height / 2 + 4,
                      colours[d->colours.of_job[index]].dark ? "#fff" : "#111");
    add_escaped(d->out, text);
    pleat_string_add(d->out, "</text>\n");
}

static void add_row_labels(struct drawing *d)
{
    const struct pleat_gantt *gantt = d->gantt;
    int64_t step = 1;
    while ((double)step * d->row_height < 14)
        step *= 2;
    for (size_t n = 0; n < gantt->nodes.count; n++) {
        const struct pleat_gantt_node *node = &gantt->nodes.items[n];
        for (int64_t slot = 0; slot < node->slots; slot += step)
            pleat_string_addf(d->out,
                              "<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\" "
                              "fill=\"#666\">%lld</text>\n",
                              LEFT - 7, y_of(d, node->row + slot) + d->row_height / 2 + 4,
                              (long long)slot);
        if (gantt->nodes.count > 1) {
            pleat_string_addf(d->out,
                              "<text transform=\"translate(%g %.1f) rotate(90)\" "
                              "text-anchor=\"middle\" fill=\"#666\">",
                              WIDTH - RIGHT + 8,
                              y_of(d, node->row) + (double)node->slots * d->row_height / 2);
            add_escaped(d->out, node->site);
            pleat_string_add(d->out, "</text>\n");
        }
        if (node->row > 0)
            pleat_string_addf(d->out, "<path d=\"M%g %.1f H%g\" stroke=\"#555\"/>\n", LEFT - 30,
                              y_of(d, node->row), WIDTH - RIGHT);
    }
    pleat_string_addf(d->out,
                      "<text transform=\"translate(20 %.1f) rotate(-90)\" text-anchor=\"middle\" "
                      "fill=\"#666\">processor</text>\n",
                      (d->rows_top + d->rows_bottom) / 2);
}

/* Lines at the marks of the time axis, from top to bottom, and their numbers below. */
static void add_grid(struct drawing *d, double top, double bottom)
{
    const struct pleat_gantt *gantt = d->gantt;
    struct pleat_time_axis axis;
    pleat_time_axis(gantt->from_s, gantt->to_s, gantt->clock ? gantt->origin_s : (double)NAN, 10,
                    &axis);
    for (size_t i = 0; i < axis.count; i++) {
        double x = x_of(d, axis.marks[i].at_s);
        pleat_string_addf(d->out,
                          "<path d=\"M%.1f %.1f V%.1f\" stroke=\"#e4e4e4\"/><text x=\"%.1f\" "
                          "y=\"%.1f\" text-anchor=\"middle\" fill=\"#666\">%s</text>\n",
                          x, top, bottom, x, bottom + 15, axis.marks[i].text);
    }
    pleat_string_addf(d->out,
                      "<text x=\"%g\" y=\"%.1f\" text-anchor=\"middle\" fill=\"#666\">%s"
                      "</text>\n",
                      (LEFT + WIDTH - RIGHT) / 2, bottom + 31, axis.unit);
}

/* ---- utilization ---- */

struct edge {
    double time;
    int64_t used, held;
};

static int compare_edges(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    return a->time < b->time ? -1 : a->time > b->time;
}

static void add_steps(struct drawing *d, const struct edge *edges, size_t count, bool held,
                      double top, double height)
{
    int64_t level = 0;
    double rows = d->gantt->rows > 0 ? (double)d->gantt->rows : 1, bottom = top + height;
    pleat_string_addf(d->out, "<path d=\"M%g %.2f", LEFT, bottom);
    for (size_t i = 0; i < count; i++) {
        level += edges[i].used + (held ? edges[i].held : 0);
        if (i + 1 < count && edges[i + 1].time - edges[i].time < 1e-6)
            continue;
        pleat_string_addf(d->out, " H%.2f V%.2f", x_of(d, edges[i].time),
                          bottom - height * fmin((double)level / rows, 1));
    }
    pleat_string_addf(d->out, " H%.2f V%.2f Z\" fill=\"%s\"/>\n", x_of(d, d->gantt->to_s), bottom,
                      held ? "#cfd8dc" : "#607d8b");
}

static void add_strip(struct drawing *d, double top)
{
    const struct pleat_gantt *gantt = d->gantt;
    struct edge *edges = calloc(gantt->intervals.count * 2 + 1, sizeof(*edges));
    size_t count = 0;
    if (!edges) {
        d->out->failed = 1;
        return;
    }
    for (size_t i = 0; i < gantt->intervals.count; i++) {
        const struct pleat_gantt_interval *interval = &gantt->intervals.items[i];
        bool used = interval->use == PLEAT_GANTT_RUN || interval->use == PLEAT_GANTT_LEAVING;
        edges[count++] =
            (struct edge){interval->from_s, used ? interval->count : 0, used ? 0 : interval->count};
        edges[count++] =
            (struct edge){interval->to_s, used ? -interval->count : 0, used ? 0 : -interval->count};
    }
    qsort(edges, count, sizeof(*edges), compare_edges);
    pleat_string_addf(d->out,
                      "<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\" fill=\"#666\">100 %%</text>"
                      "<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\" fill=\"#666\">0</text>"
                      "<text transform=\"translate(20 %.1f) rotate(-90)\" "
                      "text-anchor=\"middle\" fill=\"#666\">in use</text>\n",
                      LEFT - 7, top + 8, LEFT - 7, top + STRIP, top + STRIP / 2);
    add_steps(d, edges, count, true, top, STRIP);
    add_steps(d, edges, count, false, top, STRIP);
    pleat_string_addf(d->out, "<path d=\"M%g %.1f H%g M%g %.1f H%g\" stroke=\"#bbb\"/>\n", LEFT,
                      top, WIDTH - RIGHT, LEFT, top + STRIP, WIDTH - RIGHT);
    free(edges);
}

/* ---- legend ---- */

static bool uses(const struct drawing *d, enum pleat_gantt_use use)
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
    if (legend->x > LEFT && legend->x + width > WIDTH - RIGHT) {
        legend->x = LEFT;
        legend->y += 20;
    }
}

static void legend_key(struct drawing *d, const struct legend *legend, const char *fill,
                       const char *more)
{
    pleat_string_addf(d->out,
                      "<rect x=\"%.1f\" y=\"%.1f\" width=\"20\" height=\"12\" fill=\"%s\"%s/>"
                      "<text x=\"%.1f\" y=\"%.1f\" font-size=\"12\">",
                      legend->x, legend->y - 10, fill, more, legend->x + 26, legend->y);
}

/* What the colours of groups mean. */
static void add_groups(struct drawing *d, struct legend *legend)
{
    pleat_string_addf(d->out, "<text x=\"%g\" y=\"%.1f\" font-size=\"12\">%s</text>\n", LEFT,
                      legend->y, d->colours.by);
    legend->x = LEFT + 12 + (double)strlen(d->colours.by) * 7;
    for (size_t i = 0; i < d->colours.count; i++) {
        const struct pleat_gantt_group *group = &d->colours.groups[i];
        double width = 26 + ((double)strlen(group->name) + 13) * 7;
        if (group->jobs == 0)
            continue;
        legend_place(legend, width);
        legend_key(d, legend, colours[i].fill, "");
        add_escaped(d->out, group->name);
        pleat_string_addf(d->out, " (%zu job%s)</text>\n", group->jobs,
                          group->jobs == 1 ? "" : "s");
        legend->x += width;
    }
}

static double add_legend(struct drawing *d, double top)
{
    static const char *const meaning[] = {[PLEAT_GANTT_GROWTH] =
                                              "claimed to grow into, not yet running there",
                                          [PLEAT_GANTT_EARMARK] = "kept for the job that waits",
                                          [PLEAT_GANTT_LEAVING] = "on the way back"};
    struct legend legend = {LEFT, top + 12};
    if (d->colours.grouped)
        add_groups(d, &legend);
    for (size_t i = 0; !d->colours.grouped && i < d->gantt->jobs.count; i++) {
        const struct pleat_gantt_job *job = &d->gantt->jobs.items[i];
        double width = 26 + ((double)strlen(job->name) + 8) * 7;
        if (!in_window(d, i))
            continue;
        legend_place(&legend, width);
        legend_key(d, &legend, fill_of(d, i), "");
        pleat_string_addf(d->out, "%lld ", (long long)job->job);
        add_escaped(d->out, job->name);
        pleat_string_add(d->out, "</text>\n");
        legend.x += width;
    }
    legend = (struct legend){LEFT, legend.y + 22};
    for (int use = PLEAT_GANTT_GROWTH; use < PLEAT_GANTT_USE_COUNT; use++) {
        char fill[32];
        if (!uses(d, (enum pleat_gantt_use)use))
            continue;
        double width = 40 + (double)strlen(meaning[use]) * 6.6;
        snprintf(fill, sizeof(fill), "url(#%s0)", pleat_gantt_use_name((enum pleat_gantt_use)use));
        legend_place(&legend, width);
        legend_key(d, &legend, use == PLEAT_GANTT_LEAVING ? colours[0].fill : fill,
                   use == PLEAT_GANTT_LEAVING ? " fill-opacity=\"0.45\"" : "");
        pleat_string_addf(d->out, "%s</text>\n", meaning[use]);
        legend.x += width;
    }
    return legend.y + (legend.x > LEFT ? 14 : -8);
}

/* ---- all of it ---- */

static void add_body(struct drawing *d)
{
    struct pleat_string waits = {0}, *page = d->out;
    const struct pleat_gantt *gantt = d->gantt;
    d->out = &waits; /* how many lanes they need is known afterwards */
    for (size_t i = 0; !d->colours.grouped && i < gantt->jobs.count; i++)
        if (in_window(d, i) && waited_until(d, &gantt->jobs.items[i]) >= gantt->from_s)
            add_wait(d, i);
    d->out = page;
    double rows = gantt->rows > 0 ? (double)gantt->rows : 1;
    d->rows_top = TOP + d->lanes * LANE + (d->lanes ? 8 : 0);
    d->row_height = fmin(28, fmax(400 / rows, 0.5));
    d->row_height = fmin(d->row_height, 4000 / rows);
    d->rows_bottom = d->rows_top + rows * d->row_height;
    double strip = d->rows_bottom + 16, axis = strip + STRIP;
    add_grid(d, TOP - 6, axis);
    pleat_string_add(d->out, waits.text ? waits.text : "");
    if (waits.failed)
        d->out->failed = 1;
    pleat_string_finish(&waits);
    add_row_labels(d);
    for (size_t i = 0; i < d->boxes.count; i++)
        add_box(d, &d->boxes.items[i]);
    for (size_t i = 0; i < gantt->jobs.count; i++)
        add_name(d, i);
    pleat_string_addf(d->out, "<path d=\"M%g %.1f H%g M%g %.1f H%g\" stroke=\"#bbb\"/>\n", LEFT,
                      d->rows_top, WIDTH - RIGHT, LEFT, d->rows_bottom, WIDTH - RIGHT);
    add_strip(d, strip);
}

void pleat_gantt_add_svg(const struct pleat_gantt *gantt, struct pleat_string *out)
{
    struct pleat_string body = {0};
    struct drawing d = {.gantt = gantt, .out = &body};
    if (pleat_gantt_colours_init(&d.colours, gantt, jobs_shown(&d))) {
        pleat_gantt_colours_finish(&d.colours);
        out->failed = 1;
        return;
    }
    make_boxes(&d);
    add_body(&d);
    double height = add_legend(&d, d.rows_bottom + 16 + STRIP + 48);
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

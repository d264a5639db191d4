/* gantt_svg_rows.c - the rows of the drawing: waiting jobs, processors, utilization. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/timefmt.h"
#include "chart/gantt_svg.h"
#include "chart/time_axis.h"

/* ---- waiting jobs ---- */

static double waited_until(const struct pleat_svg_drawing *d, const struct pleat_gantt_job *job)
{
    if (isfinite(job->start_s))
        return job->start_s;
    return isfinite(job->end_s) ? job->end_s : d->gantt->to_s;
}

/* Takes the first lane that is free at x; -1: there is none. */
static int take_lane(struct pleat_svg_drawing *d, double x, double until)
{
    int lane = 0;
    while (lane < d->lanes && d->lane_end[lane] > x)
        lane++;
    if (lane == PLEAT_SVG_LANES_MAX) {
        d->lanes_full++;
        return -1;
    }
    if (lane >= d->lanes)
        d->lanes = lane + 1;
    d->lane_end[lane] = until + 8;
    return lane;
}

static void add_wait(struct pleat_svg_drawing *d, size_t index)
{
    const struct pleat_gantt_job *job = &d->gantt->jobs.items[index];
    double from = pleat_svg_x(d, job->submit_s), to = pleat_svg_x(d, waited_until(d, job));
    char span[PLEAT_TIME_SIZE], text[64];
    double waited = waited_until(d, job) - job->submit_s;
    bool arrived = job->submit_s >= d->gantt->from_s && job->submit_s <= d->gantt->to_s;
    if (to - from > 8)
        snprintf(text, sizeof(text), "job %lld waits %s", (long long)job->job,
                 pleat_time_span(waited, span));
    else
        snprintf(text, sizeof(text), "job %lld", (long long)job->job);
    double width = (double)strlen(text) * PLEAT_SVG_LETTER;
    bool left = to + 7 + width > PLEAT_SVG_WIDTH; /* there is no room at the right of the line */
    bool long_enough = to - from > 8;             /* long enough for a line beside the triangle */
    double end = long_enough ? to : from;
    int lane = take_lane(d, left ? from - 7 - width : from - 5, left ? to : end + 7 + width);
    double y = PLEAT_SVG_TOP + 8 + lane * PLEAT_SVG_LANE;
    if (lane < 0)
        return;
    if (long_enough)
        pleat_string_addf(d->out,
                          "<path d=\"M%.1f %.1f H%.1f\" stroke=\"%s\" stroke-width=\"2\" "
                          "stroke-dasharray=\"5 3\"/><path d=\"M%.1f %.1f v8\" stroke=\"%s\" "
                          "stroke-width=\"2\"/>\n",
                          arrived ? from + 5 : from, y, to, pleat_svg_fill(d, index), to, y - 4,
                          pleat_svg_fill(d, index));
    if (arrived)
        pleat_string_addf(d->out,
                          "<path d=\"M%.1f %.1f l-4.5 -8 h9 z\" fill=\"%s\"><title>arrival of job "
                          "%lld</title></path>\n",
                          from, y + 4, pleat_svg_fill(d, index), (long long)job->job);
    pleat_string_addf(d->out, "<text x=\"%.1f\" y=\"%.1f\"%s>%s</text>\n",
                      left ? from - 7 : end + 7, y + 4, left ? " text-anchor=\"end\"" : "", text);
}

void pleat_svg_add_waits(struct pleat_svg_drawing *d)
{
    const struct pleat_gantt *gantt = d->gantt;
    for (size_t i = 0; !d->colours.grouped && i < gantt->jobs.count; i++)
        if (pleat_svg_in_window(d, i) && waited_until(d, &gantt->jobs.items[i]) >= gantt->from_s)
            add_wait(d, i);
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

/* Makes the boxes: one for each row and job, also where only the claim changed. */
void pleat_svg_make_boxes(struct pleat_svg_drawing *d)
{
    const struct pleat_gantt *gantt = d->gantt;
    for (size_t i = 0; i < gantt->intervals.count; i++) {
        const struct pleat_gantt_interval *interval = &gantt->intervals.items[i];
        if (interval->to_s <= gantt->from_s || interval->from_s >= gantt->to_s)
            continue;
        /* row by row, so that boxes of different counts can be joined */
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

static void add_box(struct pleat_svg_drawing *d, const struct pleat_gantt_interval *box)
{
    const struct pleat_gantt_job *job = &d->gantt->jobs.items[box->job];
    double gap = d->row_height >= 6 ? 1.5 : 0;
    double x = pleat_svg_x(d, box->from_s), width = pleat_svg_x(d, box->to_s) - x;
    char fill[32];
    if (box->use == PLEAT_GANTT_GROWTH || box->use == PLEAT_GANTT_EARMARK)
        snprintf(fill, sizeof(fill), "url(#%s%zu)", pleat_gantt_use_name(box->use),
                 d->colours.of_job[box->job]);
    else
        snprintf(fill, sizeof(fill), "%s", pleat_svg_fill(d, box->job));
    pleat_string_addf(d->out,
                      "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                      "fill=\"%s\"%s%s><title>job %lld ",
                      pleat_gantt_use_name(box->use), x, pleat_svg_y(d, box->row) + gap / 2,
                      fmax(width, 0.3), (double)box->count * d->row_height - gap, fill,
                      box->use == PLEAT_GANTT_LEAVING ? " fill-opacity=\"0.45\"" : "",
                      /* a line between neighbours of one colour */
                      d->colours.grouped ? " stroke=\"#fff\" stroke-width=\"0.6\"" : "",
                      (long long)job->job);
    pleat_svg_add_escaped(d->out, job->name);
    pleat_string_addf(d->out, ": %s, %.2f to %.2f s</title></rect>\n",
                      pleat_gantt_use_name(box->use), box->from_s, box->to_s);
}

/* Adds the job's name in its longest box. */
static void add_name(struct pleat_svg_drawing *d, size_t index)
{
    const struct pleat_gantt_interval *best = NULL;
    const struct pleat_gantt_job *job = &d->gantt->jobs.items[index];
    for (size_t i = 0; i < d->boxes.count; i++) {
        const struct pleat_gantt_interval *box = &d->boxes.items[i];
        if (box->job == index && box->use == PLEAT_GANTT_RUN &&
            (!best || pleat_svg_x(d, box->to_s) - pleat_svg_x(d, box->from_s) >
                          pleat_svg_x(d, best->to_s) - pleat_svg_x(d, best->from_s) + 0.5))
            best = box;
    }
    if (!best || (double)best->count * d->row_height < 13)
        return;
    char text[48];
    int length = snprintf(text, sizeof(text), "%lld %.24s", (long long)job->job, job->name);
    double room = pleat_svg_x(d, best->to_s) - pleat_svg_x(d, best->from_s) - 8;
    bool ascii = true;
    for (const char *c = text; *c; c++)
        ascii = ascii && (unsigned char)*c < 128;
    if (length * PLEAT_SVG_LETTER > room || !ascii) /* the name is cut by bytes: only for ASCII */
        snprintf(text, sizeof(text), "%lld", (long long)job->job);
    if ((double)strlen(text) * PLEAT_SVG_LETTER > room)
        return;
    pleat_string_addf(d->out, "<text x=\"%.1f\" y=\"%.1f\" font-weight=\"600\" fill=\"%s\">",
                      pleat_svg_x(d, best->from_s) + 5,
                      pleat_svg_y(d, best->row) + (double)best->count * d->row_height / 2 + 4,
                      pleat_svg_is_dark(d, index) ? "#fff" : "#111");
    pleat_svg_add_escaped(d->out, text);
    pleat_string_add(d->out, "</text>\n");
}

static void add_row_labels(struct pleat_svg_drawing *d)
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
                              PLEAT_SVG_LEFT - 7,
                              pleat_svg_y(d, node->row + slot) + d->row_height / 2 + 4,
                              (long long)slot);
        if (gantt->nodes.count > 1) {
            pleat_string_addf(d->out,
                              "<text transform=\"translate(%g %.1f) rotate(90)\" "
                              "text-anchor=\"middle\" fill=\"#666\">",
                              PLEAT_SVG_WIDTH - PLEAT_SVG_RIGHT + 8,
                              pleat_svg_y(d, node->row) + (double)node->slots * d->row_height / 2);
            pleat_svg_add_escaped(d->out, node->site);
            pleat_string_add(d->out, "</text>\n");
        }
        if (node->row > 0)
            pleat_string_addf(d->out, "<path d=\"M%g %.1f H%g\" stroke=\"#555\"/>\n",
                              PLEAT_SVG_LEFT - 30, pleat_svg_y(d, node->row),
                              PLEAT_SVG_WIDTH - PLEAT_SVG_RIGHT);
    }
    pleat_string_addf(d->out,
                      "<text transform=\"translate(20 %.1f) rotate(-90)\" text-anchor=\"middle\" "
                      "fill=\"#666\">processor</text>\n",
                      (d->rows_top + d->rows_bottom) / 2);
}

/* Adds lines at the marks of the time axis, from top to bottom, and their numbers below. */
void pleat_svg_add_grid(struct pleat_svg_drawing *d, double top, double bottom)
{
    const struct pleat_gantt *gantt = d->gantt;
    struct pleat_time_axis axis;
    pleat_time_axis(gantt->from_s, gantt->to_s, gantt->clock ? gantt->origin_s : (double)NAN, 10,
                    &axis);
    for (size_t i = 0; i < axis.count; i++) {
        double x = pleat_svg_x(d, axis.marks[i].at_s);
        pleat_string_addf(d->out,
                          "<path d=\"M%.1f %.1f V%.1f\" stroke=\"#e4e4e4\"/><text x=\"%.1f\" "
                          "y=\"%.1f\" text-anchor=\"middle\" fill=\"#666\">%s</text>\n",
                          x, top, bottom, x, bottom + 15, axis.marks[i].text);
    }
    pleat_string_addf(d->out,
                      "<text x=\"%g\" y=\"%.1f\" text-anchor=\"middle\" fill=\"#666\">%s"
                      "</text>\n",
                      (PLEAT_SVG_LEFT + PLEAT_SVG_WIDTH - PLEAT_SVG_RIGHT) / 2, bottom + 31,
                      axis.unit);
}

void pleat_svg_add_processors(struct pleat_svg_drawing *d)
{
    add_row_labels(d);
    for (size_t i = 0; i < d->boxes.count; i++)
        add_box(d, &d->boxes.items[i]);
    for (size_t i = 0; i < d->gantt->jobs.count; i++)
        add_name(d, i);
    pleat_string_addf(d->out, "<path d=\"M%g %.1f H%g M%g %.1f H%g\" stroke=\"#bbb\"/>\n",
                      PLEAT_SVG_LEFT, d->rows_top, PLEAT_SVG_WIDTH - PLEAT_SVG_RIGHT,
                      PLEAT_SVG_LEFT, d->rows_bottom, PLEAT_SVG_WIDTH - PLEAT_SVG_RIGHT);
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

static void add_steps(struct pleat_svg_drawing *d, const struct edge *edges, size_t count,
                      bool held, double top, double height)
{
    int64_t level = 0;
    double rows = d->gantt->rows > 0 ? (double)d->gantt->rows : 1, bottom = top + height;
    pleat_string_addf(d->out, "<path d=\"M%g %.2f", PLEAT_SVG_LEFT, bottom);
    for (size_t i = 0; i < count; i++) {
        level += edges[i].used + (held ? edges[i].held : 0);
        if (i + 1 < count && edges[i + 1].time - edges[i].time < 1e-6)
            continue;
        pleat_string_addf(d->out, " H%.2f V%.2f", pleat_svg_x(d, edges[i].time),
                          bottom - height * fmin((double)level / rows, 1));
    }
    pleat_string_addf(d->out, " H%.2f V%.2f Z\" fill=\"%s\"/>\n", pleat_svg_x(d, d->gantt->to_s),
                      bottom, held ? "#cfd8dc" : "#607d8b");
}

void pleat_svg_add_strip(struct pleat_svg_drawing *d, double top)
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
                      PLEAT_SVG_LEFT - 7, top + 8, PLEAT_SVG_LEFT - 7, top + PLEAT_SVG_STRIP,
                      top + PLEAT_SVG_STRIP / 2);
    add_steps(d, edges, count, true, top, PLEAT_SVG_STRIP);
    add_steps(d, edges, count, false, top, PLEAT_SVG_STRIP);
    pleat_string_addf(d->out, "<path d=\"M%g %.1f H%g M%g %.1f H%g\" stroke=\"#bbb\"/>\n",
                      PLEAT_SVG_LEFT, top, PLEAT_SVG_WIDTH - PLEAT_SVG_RIGHT, PLEAT_SVG_LEFT,
                      top + PLEAT_SVG_STRIP, PLEAT_SVG_WIDTH - PLEAT_SVG_RIGHT);
    free(edges);
}

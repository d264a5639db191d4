/* gantt_text.c - the chart in characters: a letter and a colour for each job. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chart/gantt.h"
#include "chart/time_axis.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/* Of 256 colours: the hues of the SVG in the same order, so that no two must be told apart by red
 * and green alone. */
static const int colours[] = {32, 214, 36, 175, 75, 166, 228, 62, 125, 143, 73, 133};

#define LETTER_COUNT (sizeof(letters) - 1)
#define COLOUR_COUNT (sizeof(colours) / sizeof(colours[0]))

int pleat_gantt_text_colour(size_t job)
{
    return colours[job % COLOUR_COUNT];
}

struct canvas {
    const struct pleat_gantt *gantt;
    const struct pleat_term *term;
    struct pleat_string *out;
    int64_t per_row; /* processors in one row of the chart */
    int rows;
    int label; /* width of the labels at the left */
    int columns;
    int style;          /* in force on the terminal, see set_style */
    bool held_shown;    /* some cell shows processors that are held but not run on */
    double *run, *held; /* per column and job, in processor-seconds; of one row at a time */
};

static char letter_of(size_t job)
{
    return letters[job % LETTER_COUNT];
}

/* ---- what is in a cell ---- */

static void add_interval(struct canvas *c, const struct pleat_gantt_interval *interval, int row)
{
    const struct pleat_gantt *gantt = c->gantt;
    double width = (gantt->to_s - gantt->from_s) / c->columns;
    int64_t low = row * c->per_row, high = low + c->per_row;
    int64_t first = interval->row > low ? interval->row : low;
    int64_t last = interval->row + interval->count < high ? interval->row + interval->count : high;
    double from = fmax(interval->from_s, gantt->from_s), to = fmin(interval->to_s, gantt->to_s);
    if (last <= first || to <= from)
        return;
    bool run = interval->use == PLEAT_GANTT_RUN || interval->use == PLEAT_GANTT_LEAVING;
    int begin = (int)((from - gantt->from_s) / width), end = (int)((to - gantt->from_s) / width);
    for (int column = begin; column <= end && column < c->columns; column++) {
        double cell = gantt->from_s + column * width;
        double overlap = fmin(to, cell + width) - fmax(from, cell);
        size_t at = (size_t)column * gantt->jobs.count + interval->job;
        if (overlap > 0)
            (run ? c->run : c->held)[at] += overlap * (double)(last - first);
    }
}

/* Switches the colour of the terminal where it changes. style: the job's colour; 0: none; negative:
 * of processors that are only held. */
static void set_style(struct canvas *c, int style)
{
    if (!c->term->colour || style == c->style)
        return;
    if (c->style)
        pleat_string_add(c->out, "\033[0m");
    if (style > 0)
        pleat_string_addf(c->out, "\033[38;5;16;48;5;%dm", style);
    else if (style < 0)
        pleat_string_addf(c->out, "\033[38;5;%dm", -style);
    c->style = style;
}

static void add_cell(struct canvas *c, size_t job, bool held)
{
    char letter[2] = {letter_of(job), 0};
    if (held) {
        c->held_shown = true;
        letter[0] = (char)(letter[0] - 'A' + 'a');
    }
    set_style(c, held ? -pleat_gantt_text_colour(job) : pleat_gantt_text_colour(job));
    pleat_string_add(c->out, held && c->term->colour && c->term->utf8 ? "\u2592" : letter);
}

/* Adds a cell. It shows the job that has most of it, unless it is mostly idle. */
static void add_column(struct canvas *c, int column, double capacity)
{
    size_t jobs = c->gantt->jobs.count, best = 0;
    const double *run = c->run + (size_t)column * jobs, *held = c->held + (size_t)column * jobs;
    double total = 0;
    for (size_t i = 0; i < jobs; i++) {
        total += run[i] + held[i];
        if (run[i] + held[i] > run[best] + held[best])
            best = i;
    }
    if (jobs > 0 && total >= capacity / 2)
        add_cell(c, best, held[best] > run[best]);
    else {
        set_style(c, 0);
        pleat_string_add(c->out, c->term->utf8 ? "\u00b7" : ".");
    }
}

/* The node that has a row; NULL: none has. */
static const struct pleat_gantt_node *node_of(const struct pleat_gantt *gantt, int64_t row)
{
    for (size_t i = 0; i < gantt->nodes.count; i++) {
        const struct pleat_gantt_node *node = &gantt->nodes.items[i];
        if (row >= node->row && row < node->row + node->slots)
            return node;
    }
    return NULL;
}

/* Whether the site has another node. */
static bool has_others(const struct pleat_gantt *gantt, const struct pleat_gantt_node *node)
{
    for (size_t i = 0; i < gantt->nodes.count; i++)
        if (gantt->nodes.items[i].number != node->number &&
            !strcmp(gantt->nodes.items[i].site, node->site))
            return true;
    return false;
}

/* Which processors a row is of: "3", "0-3"; where there are several nodes, with the one on which
 * the first of them is: "two/1 3". */
static void label_text(const struct canvas *c, int64_t row, char *text, size_t size)
{
    const struct pleat_gantt *gantt = c->gantt;
    long long first = row * c->per_row, last = first + c->per_row - 1;
    const struct pleat_gantt_node *node = gantt->nodes.count > 1 ? node_of(gantt, first) : NULL;
    if (last >= gantt->rows)
        last = gantt->rows - 1;
    *text = '\0';
    if (node && has_others(gantt, node))
        snprintf(text, size, "%.24s/%lld ", node->site, (long long)node->number);
    else if (node)
        snprintf(text, size, "%.24s ", node->site);
    size_t used = strlen(text);
    if (node) { /* numbers of the node's own processors */
        first -= node->row;
        last -= node->row;
        last = last < node->slots ? last : node->slots - 1;
    }
    if (first == last)
        snprintf(text + used, size - used, "%lld", first);
    else
        snprintf(text + used, size - used, "%lld-%lld", first, last);
}

static void add_label(struct canvas *c, int row)
{
    char text[96];
    label_text(c, row, text, sizeof(text));
    pleat_string_addf(c->out, "%*s %s", c->label, text, c->term->utf8 ? "\u2502" : "|");
}

static void add_row(struct canvas *c, int row)
{
    const struct pleat_gantt *gantt = c->gantt;
    size_t cells = (size_t)c->columns * gantt->jobs.count;
    int64_t slots = gantt->rows - row * c->per_row;
    slots = slots < c->per_row ? slots : c->per_row;
    memset(c->run, 0, cells * sizeof(double));
    memset(c->held, 0, cells * sizeof(double));
    for (size_t i = 0; i < gantt->intervals.count; i++)
        add_interval(c, &gantt->intervals.items[i], row);
    add_label(c, row);
    for (int column = 0; column < c->columns; column++)
        add_column(c, column, (gantt->to_s - gantt->from_s) / c->columns * (double)slots);
    set_style(c, 0);
    pleat_string_add(c->out, "\n");
}

/* ---- axis and legend ---- */

static void add_axis(struct canvas *c)
{
    const struct pleat_gantt *gantt = c->gantt;
    double span = gantt->to_s - gantt->from_s;
    struct pleat_time_axis clock;
    double step = pleat_gantt_step(span, c->columns / 10 > 0 ? c->columns / 10 : 1);
    pleat_time_axis(gantt->from_s, gantt->to_s, gantt->origin_s,
                    c->columns / 16 > 0 ? c->columns / 16 : 1, &clock);
    long count = gantt->clock ? (long)clock.count : pleat_gantt_marks(gantt, step);
    int at = 0;
    pleat_string_addf(c->out, "%*s %s", c->label, "", c->term->utf8 ? "\u2514" : "+");
    for (long i = 0; i < count; i++) {
        double mark = gantt->clock ? clock.marks[i].at_s : pleat_gantt_mark(gantt, step, i);
        int column = (int)((mark - gantt->from_s) / span * c->columns);
        if (column >= c->columns)
            break; /* the mark is at the very end */
        for (; at < column; at++)
            pleat_string_add(c->out, c->term->utf8 ? "\u2500" : "-");
        pleat_string_add(c->out, c->term->utf8 ? "\u252c" : "+");
        at++;
    }
    for (; at < c->columns; at++)
        pleat_string_add(c->out, c->term->utf8 ? "\u2500" : "-");
    pleat_string_addf(c->out, "\n%*s", c->label + 2, "");
    at = 0;
    for (long i = 0; i < count; i++) {
        double mark = gantt->clock ? clock.marks[i].at_s : pleat_gantt_mark(gantt, step, i);
        char text[32];
        int column = (int)((mark - gantt->from_s) / span * c->columns);
        if (gantt->clock)
            snprintf(text, sizeof(text), "%s", clock.marks[i].text);
        else
            snprintf(text, sizeof(text), at ? "%.10g" : "%.10g s", mark);
        if (column < at || column + (int)strlen(text) > c->columns)
            continue;
        pleat_string_addf(c->out, "%*s%s", column - at, "", text);
        at = column + (int)strlen(text);
    }
    pleat_string_add(c->out, "\n");
}

static bool in_window(const struct pleat_gantt *gantt, size_t job)
{
    const struct pleat_gantt_job *j = &gantt->jobs.items[job];
    return j->submit_s < gantt->to_s && !(isfinite(j->end_s) && j->end_s <= gantt->from_s);
}

static void add_legend(struct canvas *c)
{
    int at = 0;
    for (size_t i = 0; i < c->gantt->jobs.count; i++) {
        const struct pleat_gantt_job *job = &c->gantt->jobs.items[i];
        struct pleat_string entry = {0};
        if (!in_window(c->gantt, i))
            continue;
        pleat_string_addf(&entry, " job %lld ", (long long)job->job);
        pleat_term_add(c->term, &entry, job->name, 20);
        int width = 1 + (entry.text ? pleat_term_width(c->term, entry.text) : 0);
        if (at > 0 && at + 3 + width > c->term->width) {
            pleat_string_add(c->out, "\n");
            at = 0;
        }
        pleat_string_add(c->out, at ? "   " : "");
        at += width + (at ? 3 : 0);
        add_cell(c, i, false);
        set_style(c, 0);
        pleat_string_add(c->out, entry.text ? entry.text : "");
        pleat_string_finish(&entry);
    }
    pleat_string_add(c->out, at ? "\n" : "");
}

static void add_held_note(struct canvas *c)
{
    if (!c->held_shown)
        return;
    if (c->term->colour && c->term->utf8)
        pleat_string_add(c->out, "\u2592 claimed for a job, which does not run there yet\n");
    else
        pleat_string_add(c->out, "a, b, ... claimed for job A, B, ..., which does not run there "
                                 "yet\n");
}

void pleat_gantt_add_text(const struct pleat_gantt *gantt, const struct pleat_term *term,
                          int height, struct pleat_string *out)
{
    struct canvas c = {.gantt = gantt, .term = term, .out = out, .per_row = 1};
    if (height > 0 && gantt->rows > height)
        c.per_row = (gantt->rows + height - 1) / height;
    c.rows = (int)((gantt->rows + c.per_row - 1) / c.per_row);
    c.label = snprintf(NULL, 0, c.per_row > 1 ? "%lld-%lld" : "%lld", (long long)gantt->rows - 1,
                       (long long)gantt->rows - 1);
    for (int row = 0; gantt->nodes.count > 1 && row < c.rows; row++) {
        char text[96];
        label_text(&c, row, text, sizeof(text));
        c.label = (int)strlen(text) > c.label ? (int)strlen(text) : c.label;
    }
    c.columns = term->width - c.label - 2;
    if (c.columns < 10)
        c.columns = 10;
    size_t cells = (size_t)c.columns * (gantt->jobs.count ? gantt->jobs.count : 1);
    c.run = calloc(cells, sizeof(double));
    c.held = calloc(cells, sizeof(double));
    if (!c.run || !c.held) {
        out->failed = 1;
    } else {
        for (int row = 0; row < c.rows; row++)
            add_row(&c, row);
        add_axis(&c);
        add_legend(&c);
        add_held_note(&c);
    }
    free(c.run);
    free(c.held);
}

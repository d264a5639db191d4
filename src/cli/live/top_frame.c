#include "cli/live/top_frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timefmt.h"
#include "chart/gantt.h"
#include "cli/common/reply.h"
#include "cli/jobs/jobs.h"
#include "cli/jobs/why_text.h"

enum { BAR_MAX = 64, NAME_LEAST = 6, NAME_MOST = 20, UNLIMITED = 100000 };

/* A line under construction. Text beyond its width is cut. */
struct line {
    const struct pleat_term *term;
    struct pleat_string *out;
    int left; /* columns left */
};

static struct line begin(const struct pleat_term *term, struct pleat_string *out)
{
    return (struct line){term, out, term->limited ? term->width : UNLIMITED};
}

static void end(struct line *line)
{
    pleat_string_add(line->out, "\n");
}

/* Adds a text in at most |columns| columns (0: all that are left), padded to that width; below 0 it
 * is aligned to the right. */
static void put(struct line *line, int columns, const char *text)
{
    int most = columns ? abs(columns) : line->left, width = pleat_term_width(line->term, text);
    if (most > line->left)
        most = line->left;
    if (most <= 0)
        return;
    int pad = columns && width < most ? most - width : 0;
    if (columns < 0)
        pleat_string_addf(line->out, "%*s", pad, "");
    pleat_term_add(line->term, line->out, text, most);
    if (columns > 0)
        pleat_string_addf(line->out, "%*s", pad, "");
    line->left -= columns ? most : width < most ? width : most;
}

static void style(struct line *line, const char *sequence)
{
    if (line->term->colour)
        pleat_string_add(line->out, sequence);
}

static void style_job(struct line *line, int64_t job)
{
    if (line->term->colour)
        pleat_string_addf(line->out, "\033[38;5;16;48;5;%dm",
                          pleat_gantt_text_colour((size_t)(job > 0 ? job - 1 : 0)));
}

static char letter_of(int64_t job)
{
    return (char)('A' + (job > 0 ? job - 1 : 0) % 26);
}

static int count_of(const json_t *frame, const char *state)
{
    return pleat_reply_small(json_object_get(frame, "counts"), state, 0, 1 << 30);
}

/* ---- the head ---- */

static void add_title(const json_t *frame, const struct pleat_term *term, struct pleat_string *out)
{
    char moment[PLEAT_TIME_SIZE], text[256];
    const json_t *policies = json_object_get(frame, "policies");
    struct line line = begin(term, out);
    int running = count_of(frame, "running") + count_of(frame, "resizing");
    int starting = count_of(frame, "placed") + count_of(frame, "claiming");
    snprintf(text, sizeof(text), "pleat %s  %d running, %d waiting",
             pleat_time_moment(pleat_reply_real(frame, "now_s"), moment), running,
             count_of(frame, "queued") + starting);
    style(&line, "\033[1m");
    put(&line, 0, text);
    style(&line, "\033[0m");
    snprintf(text, sizeof(text), "  (%s, %s, %s)", pleat_reply_text(policies, "approach", "?"),
             pleat_reply_text(policies, "queue", "?"),
             pleat_reply_text(policies, "malleability", "?"));
    put(&line, 0, text);
    end(&line);
    if (pleat_reply_text(frame, "holding", NULL)) {
        line = begin(term, out);
        put(&line, 0, "the log cannot be written, changes are refused: ");
        put(&line, 0, pleat_reply_text(frame, "holding", ""));
        end(&line);
    }
}

/* Which job has a processor of the site: its number; 0: none; -1: other programs of the machine. */
static int64_t owner_of(const json_t *frame, const json_t *site, int64_t processor)
{
    size_t i;
    json_t *job;
    int64_t first = 0;
    json_array_foreach(pleat_reply_array(frame, "jobs"), i, job)
    {
        if (!pleat_reply_is(job, "site", pleat_reply_text(site, "name", "")))
            continue;
        first += pleat_reply_int(job, "processors", 0);
        if (processor < first)
            return pleat_reply_int(job, "job", 0);
    }
    return processor >=
                   pleat_reply_int(site, "processors", 0) - pleat_reply_int(site, "background", 0)
               ? -1
               : 0;
}

static void add_bar(struct line *line, const json_t *frame, const json_t *site)
{
    int64_t processors = pleat_reply_int(site, "processors", 0);
    int64_t cells = processors < BAR_MAX ? processors : BAR_MAX;
    int room = (line->left < 90 ? line->left : 90) / 2;
    if (cells > room)
        cells = room;
    put(line, 0, "[");
    for (int64_t cell = 0; cell < cells; cell++) {
        int64_t owner = owner_of(frame, site, cell * processors / cells);
        char text[2] = {owner > 0 ? letter_of(owner) : owner < 0 ? '#' : '.', 0};
        if (owner > 0)
            style_job(line, owner);
        put(line, 1, text);
        if (owner > 0)
            style(line, "\033[0m");
    }
    put(line, 0, "] ");
}

static void add_site(const json_t *frame, const json_t *site, const struct pleat_term *term,
                     struct pleat_string *out)
{
    struct line line = begin(term, out);
    char text[160];
    long long processors = (long long)pleat_reply_int(site, "processors", 0);
    long long used = (long long)pleat_reply_int(site, "used", 0);
    long long others = (long long)pleat_reply_int(site, "background", 0);
    put(&line, 0, pleat_reply_text(site, "name", "?"));
    put(&line, 0, " ");
    add_bar(&line, frame, site);
    int length = snprintf(text, sizeof(text), "%lld of %lld used, %.0f %%", used, processors,
                          processors > 0 ? 100.0 * (double)used / (double)processors : 0.0);
    if (others > 0)
        length +=
            snprintf(text + length, sizeof(text) - (size_t)length, ", %lld by others (#)", others);
    snprintf(text + length, sizeof(text) - (size_t)length, ", %lld free%s",
             (long long)pleat_reply_int(site, "free", 0),
             pleat_reply_true(site, "drained") ? ", drained" : "");
    put(&line, 0, text);
    size_t i;
    const json_t *node;
    json_array_foreach(pleat_reply_array(site, "nodes"), i, node)
    {
        snprintf(text, sizeof(text), "%s node %lld: %lld of %lld%s", i ? "," : ";",
                 (long long)pleat_reply_int(node, "node", 0),
                 (long long)pleat_reply_int(node, "used", 0),
                 (long long)pleat_reply_int(node, "processors", 0),
                 pleat_reply_true(node, "drained") ? ", drained" : "");
        put(&line, 0, text);
    }
    end(&line);
}

/* ---- jobs ---- */

/* The columns, in the order in which they get room. Their order in a line is another one. */
enum column { JOB, NAME, STATE, PROCS, RANGE, ITERATION, EACH, TIME, REMARK, COLUMNS };

static const struct {
    const char *title;
    int width; /* below 0: aligned to the right */
} columns[COLUMNS] = {{"JOB", -6},   {"NAME", NAME_LEAST}, {"STATE", 9},
                      {"PROCS", -6}, {"RANGE", -7},        {"ITERATION", -9},
                      {"EACH", -7},  {"TIME", -7},         {"REMARK", 12}};

struct layout {
    int widths[COLUMNS]; /* 0: the column is not shown */
};

static struct layout lay_out(const struct pleat_term *term)
{
    static const enum column order[COLUMNS] = {JOB,    STATE, PROCS, NAME,     TIME,
                                               REMARK, RANGE, EACH,  ITERATION};
    struct layout layout = {{0}};
    int left = (term->limited ? term->width : 110) - 2; /* the two columns of the letter in front */
    for (int i = 0; i < COLUMNS && left > abs(columns[order[i]].width); i++) {
        layout.widths[order[i]] = columns[order[i]].width;
        left -= abs(columns[order[i]].width) + 1;
    }
    int more = left > 0 && layout.widths[NAME] ? left / 2 : 0;
    if (more > NAME_MOST - NAME_LEAST)
        more = NAME_MOST - NAME_LEAST;
    layout.widths[NAME] += more;
    if (layout.widths[REMARK])
        layout.widths[REMARK] += left > more ? left - more : 0;
    if (!term->limited && layout.widths[REMARK])
        layout.widths[REMARK] = UNLIMITED / 2; /* in a pipe nothing is cut */
    return layout;
}

static void cell(struct line *line, const struct layout *layout, enum column column,
                 const char *text)
{
    if (!layout->widths[column])
        return;
    if (column == REMARK) { /* the last column gets no blanks behind it */
        put(line, 0, text);
        return;
    }
    put(line, layout->widths[column], text);
    put(line, 0, " ");
}

static double time_of(const json_t *job, double now_s)
{
    double start = pleat_reply_real(job, "start_s"), over = pleat_reply_real(job, "end_s");
    double from = isfinite(start) ? start : pleat_reply_real(job, "submit_s");
    return (isfinite(over) ? over : now_s) - from;
}

/* "2 ready, 1 coming, 3 waited for, S 80 %, W 5 %": an evolving job's buffer, what it waits for,
 * and what the buffer was worth so far. */
static void add_buffer(const json_t *buffer, struct pleat_string *out)
{
    static const char *const counts[][2] = {
        {"prepared", "ready"}, {"coming", "coming"}, {"waiting", "waited for"}};
    const char *comma = "";
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        long long count = (long long)pleat_reply_int(buffer, counts[i][0], 0);
        if (count <= 0)
            continue;
        pleat_string_addf(out, "%s%lld %s", comma, count, counts[i][1]);
        comma = ", ";
    }
    if (json_is_number(json_object_get(buffer, "satisfaction"))) {
        pleat_string_addf(out, "%sS %.0f %%", comma,
                          100 * pleat_reply_real(buffer, "satisfaction"));
        comma = ", ";
    }
    if (pleat_reply_real(buffer, "waste") > 0)
        pleat_string_addf(out, "%sW %.0f %%", comma, 100 * pleat_reply_real(buffer, "waste"));
}

static void add_remark(const json_t *job, double now_s, struct pleat_string *out)
{
    const json_t *why = json_object_get(job, "why"), *resize = json_object_get(job, "resize");
    const char *text = pleat_reply_text(job, "text", "");
    if (json_is_object(why))
        pleat_why_add_short(why, now_s, out);
    else if (json_is_object(resize))
        pleat_string_addf(out, "%s -> %lld", pleat_reply_text(resize, "step", "?"),
                          (long long)pleat_reply_int(resize, "to", 0));
    else if (pleat_job_ended(job) && *text)
        pleat_string_add(out, text);
    else if (pleat_job_ended(job))
        pleat_job_add_ending(job, out);
    else if (*pleat_reply_text(job, "reason", ""))
        pleat_string_add(out, pleat_reply_text(job, "reason", ""));
    else if (pleat_reply_true(job, "section"))
        pleat_string_add(out, "its program says not now");
    else
        add_buffer(json_object_get(job, "buffer"), out);
}

static void style_state(struct line *line, const json_t *job)
{
    static const struct {
        const char *colour, *sequence;
    } known[] = {
        {"green", "\033[32m"}, {"cyan", "\033[36m"}, {"yellow", "\033[33m"}, {"red", "\033[31m"}};
    const char *colour = pleat_job_colour(job);
    for (size_t i = 0; colour && i < sizeof(known) / sizeof(known[0]); i++)
        if (!strcmp(known[i].colour, colour))
            style(line, known[i].sequence);
}

static void add_letter(struct line *line, const json_t *job)
{
    int64_t number = pleat_reply_int(job, "job", 0);
    bool holds = pleat_reply_int(job, "processors", 0) > 0 && !pleat_job_ended(job);
    char letter[2] = {holds ? letter_of(number) : ' ', 0};
    if (holds)
        style_job(line, number);
    put(line, 1, letter);
    if (holds)
        style(line, "\033[0m");
    put(line, 0, " ");
}

static void add_sizes(struct line *line, const struct layout *layout, const json_t *job)
{
    char text[64];
    long long has = (long long)pleat_reply_int(job, "processors", 0);
    long long target = (long long)pleat_reply_int(job, "target", 0);
    long long least = (long long)pleat_reply_int(job, "min", 0);
    long long most = (long long)pleat_reply_int(job, "max", 0);
    bool changes = json_is_object(json_object_get(job, "resize")) && has != target;
    long long processes = (long long)pleat_reply_int(job, "processes", has);
    int used = snprintf(text, sizeof(text), changes ? "%lld>%lld" : "%lld", has, target);
    if (processes > has && has > 0) /* the job is folded */
        snprintf(text + used, sizeof(text) - (size_t)used, "/%lld", processes);
    cell(line, layout, PROCS, text);
    snprintf(text, sizeof(text), least == most ? "%lld" : "%lld-%lld", least, most);
    cell(line, layout, RANGE, text);
}

static void add_progress(struct line *line, const struct layout *layout, const json_t *job)
{
    char text[64] = "-";
    const json_t *progress = json_object_get(job, "progress");
    if (json_is_object(progress))
        snprintf(text, sizeof(text), "%lld", (long long)pleat_reply_int(progress, "iteration", 0));
    cell(line, layout, ITERATION, text);
    cell(line, layout, EACH, pleat_time_span(pleat_reply_real(progress, "iteration_s"), text));
}

static void add_job(const json_t *job, double now_s, const struct layout *layout,
                    const struct pleat_term *term, struct pleat_string *out)
{
    struct line line = begin(term, out);
    struct pleat_string remark = {0};
    char text[64];
    add_letter(&line, job);
    snprintf(text, sizeof(text), "%lld", (long long)pleat_reply_int(job, "job", 0));
    cell(&line, layout, JOB, text);
    cell(&line, layout, NAME, pleat_reply_text(job, "name", ""));
    style_state(&line, job);
    cell(&line, layout, STATE, pleat_reply_text(job, "state", "?"));
    style(&line, "\033[0m");
    add_sizes(&line, layout, job);
    add_progress(&line, layout, job);
    cell(&line, layout, TIME, pleat_time_span(time_of(job, now_s), text));
    add_remark(job, now_s, &remark);
    cell(&line, layout, REMARK, remark.text && remark.length ? remark.text : "-");
    pleat_string_finish(&remark);
    end(&line);
}

static void add_titles(const struct layout *layout, const struct pleat_term *term,
                       struct pleat_string *out)
{
    struct line line = begin(term, out);
    style(&line, "\033[1m");
    put(&line, 2, "");
    for (int c = 0; c < COLUMNS; c++)
        cell(&line, layout, (enum column)c, columns[c].title);
    style(&line, "\033[0m");
    end(&line);
}

/* ---- order ---- */

const char *pleat_top_sort_name(enum pleat_top_sort sort)
{
    static const char *const names[] = {"queue", "job", "processors", "time", "name"};
    return sort < PLEAT_TOP_SORT_COUNT ? names[sort] : "?";
}

struct sorted {
    const json_t *job;
    size_t place; /* index in the frame */
    double key;
    const char *name; /* NULL: sorted by `key` */
};

static int compare(const void *a, const void *b)
{
    const struct sorted *one = a, *other = b;
    int names = one->name ? strcmp(one->name, other->name) : 0;
    if (names)
        return names;
    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    return one->place < other->place ? -1 : one->place > other->place;
}

static double key_of(const json_t *job, enum pleat_top_sort sort, double now_s)
{
    switch (sort) {
    case PLEAT_TOP_JOB:
        return (double)pleat_reply_int(job, "job", 0);
    case PLEAT_TOP_PROCESSORS:
        return -(double)pleat_reply_int(job, "processors", 0);
    case PLEAT_TOP_TIME:
        return -time_of(job, now_s);
    default:
        return 0;
    }
}

/* The jobs in the order wanted. NULL: there are none, or memory ran out. */
static struct sorted *sort_jobs(const json_t *jobs, const struct pleat_top_view *view, double now_s)
{
    size_t i, count = json_array_size(jobs);
    json_t *job;
    struct sorted *sorted = count ? calloc(count, sizeof(*sorted)) : NULL;
    if (!sorted)
        return NULL;
    json_array_foreach(jobs, i, job)
    {
        double key = key_of(job, view->sort, now_s);
        sorted[i] = (struct sorted){
            .job = job,
            .place = i,
            .key = isfinite(key) ? key : 0,
            .name = view->sort == PLEAT_TOP_NAME ? pleat_reply_text(job, "name", "") : NULL};
    }
    qsort(sorted, count, sizeof(*sorted), compare);
    for (i = 0; view->reverse && i < count / 2; i++) {
        struct sorted swap = sorted[i];
        sorted[i] = sorted[count - 1 - i];
        sorted[count - 1 - i] = swap;
    }
    return sorted;
}

/* ---- all of it ---- */

static int lines_of(const struct pleat_string *text)
{
    int lines = 0;
    for (const char *at = text->text; at && *at; at++)
        lines += *at == '\n';
    return lines;
}

static int add_jobs(const json_t *frame, const struct pleat_top_view *view,
                    const struct pleat_term *term, int room, struct pleat_string *out)
{
    const json_t *jobs = pleat_reply_array(frame, "jobs");
    double now_s = pleat_reply_real(frame, "now_s");
    int count = (int)json_array_size(jobs);
    struct layout layout = lay_out(term);
    struct sorted *sorted = sort_jobs(jobs, view, now_s);
    int first = view->first < count ? view->first : count;
    int shown = sorted ? count - first : 0;
    if (room >= 0 && shown > room)
        shown = room;
    for (int i = first; i < first + shown; i++)
        add_job(sorted[i].job, now_s, &layout, term, out);
    free(sorted);
    return count - first - shown;
}

int pleat_top_add_frame(const json_t *frame, const struct pleat_top_view *view,
                        const struct pleat_term *term, struct pleat_string *out)
{
    size_t i;
    json_t *site;
    struct layout layout = lay_out(term);
    add_title(frame, term, out);
    json_array_foreach(pleat_reply_array(frame, "sites"), i, site) add_site(frame, site, term, out);
    add_titles(&layout, term, out);
    int room = view->height ? view->height - lines_of(out) - (view->status != NULL) : -1;
    int below = add_jobs(frame, view, term, room < 0 && view->height ? 0 : room, out);
    int64_t left_out = pleat_reply_int(frame, "left_out", 0);
    if (!view->status && left_out > 0)
        pleat_string_addf(out, "and %lld more\n", (long long)left_out);
    for (int lines = lines_of(out); view->status && lines < view->height - 1; lines++)
        pleat_string_add(out, "\n");
    if (view->status) {
        struct line line = begin(term, out);
        style(&line, "\033[7m");
        put(&line, 0, view->status);
        style(&line, "\033[0m");
        end(&line);
    }
    return below;
}

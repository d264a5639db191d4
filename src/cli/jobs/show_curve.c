/* The curve that was learned of a job, in characters. */
#include <math.h>
#include <string.h>

#include "base/timefmt.h"
#include "cli/common/reply.h"
#include "cli/jobs/show.h"

enum { BAR = 32 };

/* "2.0 s + 98 s / p + 250 ms p", as far as there is any of it. */
static void add_law(const json_t *curve, struct pleat_string *text)
{
    static const struct {
        const char *member, *after;
    } terms[] = {{"serial_s", ""}, {"parallel_s", " / p"}, {"overhead_s", " x p"}};
    char span[PLEAT_TIME_SIZE];
    bool first = true;
    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
        double value = pleat_reply_real(curve, terms[i].member);
        if (!(value > 0))
            continue;
        pleat_string_addf(text, "%s%s%s", first ? "" : " + ", pleat_time_span(value, span),
                          terms[i].after);
        first = false;
    }
}

static void show_law(const json_t *curve)
{
    struct pleat_string text = {0};
    add_law(curve, &text);
    if (pleat_reply_real(curve, "noise") > 0)
        pleat_string_addf(&text, ", iterations differ by %.0f %%",
                          100 * pleat_reply_real(curve, "noise"));
    if (pleat_reply_int(curve, "spot", 0) > 0)
        pleat_string_addf(&text, "; sweet spot (%s, %lld %%): %lld",
                          pleat_reply_text(curve, "metric", "?"),
                          (long long)pleat_reply_int(curve, "threshold", 0),
                          (long long)pleat_reply_int(curve, "spot", 0));
    pleat_show_line("curve", &text);
    pleat_string_finish(&text);
}

/* A size, a bar as long as its iterations are, and where that is known from. */
static void show_size(const json_t *curve, const json_t *size, double longest_s)
{
    const struct pleat_term *term = pleat_show_term();
    char span[PLEAT_TIME_SIZE];
    struct pleat_string text = {0};
    int64_t processors = pleat_reply_int(size, "processors", 0);
    double seconds = pleat_reply_real(size, "iteration_s"),
           error = pleat_reply_real(size, "error_s");
    bool measured = pleat_reply_true(size, "measured");
    int bar = longest_s > 0 ? (int)lround(BAR * seconds / longest_s) : 0;
    pleat_string_addf(&text, "%7lld %c ", (long long)processors,
                      processors == pleat_reply_int(curve, "spot", 0) ? '*' : ' ');
    for (int i = 0; i < bar || i < 1; i++)
        pleat_string_add(&text,
                         measured ? (term->utf8 ? "\u2588" : "#") : (term->utf8 ? "\u2591" : "."));
    pleat_string_addf(&text, " %s", pleat_time_span(seconds, span));
    if (error > 0)
        pleat_string_addf(&text, " +- %.0f %%", 100 * error / seconds);
    if (!measured)
        pleat_string_add(&text, ", predicted");
    else if (pleat_reply_true(size, "earlier"))
        pleat_string_add(&text, ", of an earlier run");
    pleat_show_line("", &text);
    pleat_string_finish(&text);
}

/* "92 ms on 2x2, 120 ms on 1x4" */
static void add_grids(const json_t *grids, struct pleat_string *text)
{
    const json_t *grid;
    char span[PLEAT_TIME_SIZE];
    size_t i;
    json_array_foreach(grids, i, grid)
    {
        pleat_string_addf(text, "%s%s on %s", i ? ", " : "",
                          pleat_time_span(pleat_reply_real(grid, "iteration_s"), span),
                          pleat_reply_text(grid, "grid", "?"));
    }
}

void pleat_show_grids(const json_t *job)
{
    const json_t *measured = json_object_get(job, "grids");
    const json_t *predicted = json_object_get(job, "predicted_grids");
    struct pleat_string text = {0};
    if (json_array_size(measured) > 0) {
        add_grids(measured, &text);
        pleat_show_line("grids", &text);
    }
    if (json_array_size(predicted) > 0) {
        text.length = 0;
        pleat_string_add(&text, "predicted: ");
        add_grids(predicted, &text);
        pleat_show_line("", &text);
    }
    pleat_string_finish(&text);
}

void pleat_show_curve(const json_t *job)
{
    const json_t *curve = json_object_get(job, "curve"), *sizes, *size;
    double longest_s = 0;
    size_t i;
    if (!json_is_object(curve))
        return;
    sizes = json_object_get(curve, "sizes");
    show_law(curve);
    json_array_foreach(sizes, i, size)
    {
        longest_s = fmax(longest_s, pleat_reply_real(size, "iteration_s"));
    }
    json_array_foreach(sizes, i, size)
    {
        show_size(curve, size, longest_s);
    }
}

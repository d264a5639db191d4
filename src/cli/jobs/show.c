/* Lines of pleat show; those about a job's program: what that has said, and what was measured of
 * it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timefmt.h"
#include "cli/common/reply.h"
#include "cli/common/term.h"
#include "cli/jobs/jobs.h"
#include "cli/jobs/show.h"

static struct pleat_term term;

const struct pleat_term *pleat_show_begin(void)
{
    pleat_term_init(&term);
    return &term;
}

const struct pleat_term *pleat_show_term(void)
{
    return &term;
}

void pleat_show_line(const char *name, const struct pleat_string *value)
{
    struct pleat_string clean = {0};
    pleat_term_add(&term, &clean, value->text ? value->text : "-", 0);
    printf("%-12s %s\n", name, clean.text ? clean.text : "");
    pleat_string_finish(&clean);
}

void pleat_show_text(const char *name, const char *value)
{
    struct pleat_string text = {0};
    pleat_string_add(&text, value && *value ? value : "-");
    pleat_show_line(name, &text);
    pleat_string_finish(&text);
}

/* Appends why processes are not attached, unless they have ended. */
static void add_missing(const json_t *job, const json_t *folded, struct pleat_string *text)
{
    int64_t refused = pleat_reply_int(folded, "refused", 0);
    if (refused > 0)
        pleat_string_addf(
            text,
            " (%lld cannot be folded: their MPI is another one than %s: see --mpi of "
            "pleat submit; with PLEAT_FOLD_VERBOSE=1 they say which on their standard "
            "error)",
            (long long)refused, pleat_reply_text(job, "mpi", "?"));
    else if (json_is_false(json_object_get(folded, "begun")))
        pleat_string_add(text, " (none has called MPI_Init yet; if they should have: is it in a "
                               "program that they start, linked statically, or without MPI? With "
                               "PLEAT_FOLD_VERBOSE=1 they say more on their standard error)");
}

/* Prints how the job is folded, as its agent said last. */
void pleat_show_folded(const json_t *job)
{
    const json_t *folded = json_object_get(job, "folded");
    const char *balance = pleat_reply_text(folded, "balance", "unknown");
    struct pleat_string text = {0};
    if (!json_is_object(folded) || pleat_job_ended(job))
        return;
    pleat_string_addf(&text, "%lld of %lld processes attached",
                      (long long)pleat_reply_int(folded, "attached", 0),
                      (long long)pleat_reply_int(folded, "processes", 0));
    if (json_array_size(json_object_get(folded, "nodes")) > 1)
        pleat_string_addf(&text, " on %zu nodes",
                          json_array_size(json_object_get(folded, "nodes")));
    add_missing(job, folded, &text);
    pleat_string_addf(&text, ", %s queue (%s)", pleat_reply_text(folded, "queue", "?"),
                      pleat_reply_text(folded, "queue_by", "?"));
    if (!strcmp(pleat_reply_text(folded, "share", ""), "time"))
        pleat_string_addf(&text, " shared with other jobs");
    if (strcmp(balance, "unknown") != 0)
        pleat_string_addf(&text, ", %s", balance);
    if (isfinite(pleat_reply_real(folded, "idleness")))
        pleat_string_addf(&text, " (%.0f %% idle, a global queue gains at most %.0f %%)",
                          100 * pleat_reply_real(folded, "idleness"),
                          100 * pleat_reply_real(folded, "gain"));
    pleat_string_addf(&text, ", wait %s, next %s", pleat_reply_text(folded, "wait", "?"),
                      pleat_reply_text(folded, "next", "?"));
    if (pleat_reply_true(folded, "chosen"))
        pleat_string_addf(&text, ", on CPUs %s (chosen by Pleat, since nothing confines it there)",
                          pleat_reply_text(folded, "cpus", "?"));
    if (pleat_reply_int(folded, "contended", 0) > 0)
        pleat_string_addf(&text, ", others compute on %lld of its processors",
                          (long long)pleat_reply_int(folded, "contended", 0));
    pleat_show_line("folded", &text);
    pleat_string_finish(&text);
}

/* Prints what an iteration took at each size: policies may use that. For a folded program it is how
 * long a second of useful processor time takes. */
void pleat_show_iterations(const json_t *job, struct pleat_string *text)
{
    const json_t *times = json_object_get(job, "times"), *time;
    bool folds = !strcmp(pleat_reply_text(job, "runner", ""), "folded");
    size_t i;
    text->length = 0;
    if (folds)
        pleat_string_add(text, "1 s takes ");
    json_array_foreach(times, i, time)
    {
        char span[PLEAT_TIME_SIZE];
        pleat_string_addf(text, "%s%s on %lld", i > 0 ? ", " : "",
                          pleat_time_span(pleat_reply_real(time, "iteration_s"), span),
                          (long long)pleat_reply_int(time, "processors", 0));
    }
    if (json_array_size(times) > 0)
        pleat_show_line(folds ? "work" : "iterations", text);
}

/* Prints the last checkpoint. */
void pleat_show_checkpoint(const json_t *checkpoint)
{
    char moment[PLEAT_TIME_SIZE], span[PLEAT_TIME_SIZE];
    struct pleat_string text = {0};
    if (!json_is_object(checkpoint))
        return;
    pleat_string_addf(&text, "%s, iteration %lld, %.1f MB, written at %s in %s",
                      pleat_reply_text(checkpoint, "path", "?"),
                      (long long)pleat_reply_int(checkpoint, "iteration", 0),
                      (double)pleat_reply_int(checkpoint, "bytes", 0) / 1e6,
                      pleat_time_moment(pleat_reply_real(checkpoint, "time_s"), moment),
                      pleat_time_span(pleat_reply_real(checkpoint, "write_s"), span));
    pleat_show_line("checkpoint", &text);
    pleat_string_finish(&text);
}

/* Prints the last copy that it saved to go on from. */
void pleat_show_saved(const json_t *job)
{
    char moment[PLEAT_TIME_SIZE], span[PLEAT_TIME_SIZE];
    struct pleat_string text = {0};
    const json_t *saved = json_object_get(job, "saved");
    if (!json_is_object(saved))
        return;
    pleat_string_addf(&text, "iteration %lld, in memory since %s, took %s",
                      (long long)pleat_reply_int(saved, "iteration", 0),
                      pleat_time_moment(pleat_reply_real(saved, "time_s"), moment),
                      pleat_time_span((double)pleat_reply_int(saved, "save_us", 0) / 1e6, span));
    pleat_show_line("saved", &text);
    pleat_string_finish(&text);
}

/* Prints the named adaptation points of its program. */
void pleat_show_points(const json_t *job)
{
    const json_t *points = json_object_get(job, "points"), *point;
    struct pleat_string text = {0};
    size_t i;
    json_array_foreach(points, i, point)
    {
        char span[PLEAT_TIME_SIZE];
        int64_t mean_us = pleat_reply_int(point, "mean_us", 0);
        pleat_string_addf(&text, "%s%s%s passed %lld times", i > 0 ? "; " : "",
                          pleat_reply_text(point, "name", "?"),
                          pleat_reply_true(point, "resizes") ? "" : " (for times)",
                          (long long)pleat_reply_int(point, "passed", 0));
        if (mean_us > 0)
            pleat_string_addf(&text, ", %s each", pleat_time_span((double)mean_us / 1e6, span));
    }
    if (json_array_size(points) > 0)
        pleat_show_line("points", &text);
    pleat_string_finish(&text);
}

/* Prints what its program expects. */
void pleat_show_expectation(const json_t *expects)
{
    char moment[PLEAT_TIME_SIZE];
    struct pleat_string text = {0};
    if (!json_is_object(expects))
        return;
    if (json_is_real(json_object_get(expects, "end_s")))
        pleat_string_addf(&text, "to end at %s; ",
                          pleat_time_moment(pleat_reply_real(expects, "end_s"), moment));
    pleat_string_addf(&text, "a resize moves %.1f MB (its program says)",
                      (double)pleat_reply_int(expects, "bytes", 0) / 1e6);
    pleat_show_line("expects", &text);
    pleat_string_finish(&text);
}

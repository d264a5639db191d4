/* progress.c - shows the progress of a mix while it runs. */
#include <stdio.h>
#include <string.h>

#include "base/timefmt.h"
#include "cli/common/reply.h"
#include "cli/jobs/event_text.h"
#include "cli/mix/mix.h"

#define BAR_MAX 32

void pleat_mix_progress_init(struct pleat_mix_progress *progress)
{
    *progress = (struct pleat_mix_progress){0};
    pleat_term_init(&progress->term);
}

/* ---- a terminal: a block of lines, redrawn ---- */

static void add_bar(const struct pleat_mix_progress *progress, const struct pleat_mix *mix,
                    const struct pleat_mix_job *job, struct pleat_string *line)
{
    bool utf8 = progress->term.utf8, colour = progress->term.colour;
    int length = mix->processors < BAR_MAX ? mix->processors : BAR_MAX;
    int full = mix->processors > 0
                   ? (job->processors * length + mix->processors - 1) / mix->processors
                   : 0;
    if (colour)
        pleat_string_addf(line, "\033[38;5;%dm",
                          pleat_gantt_text_colour((size_t)(job - mix->jobs.items)));
    for (int i = 0; i < length; i++) {
        if (i == full && colour)
            pleat_string_add(line, "\033[2m");
        pleat_string_add(line, i < full ? (utf8 ? "\u2588" : "#") : (utf8 ? "\u00b7" : "."));
    }
    if (colour)
        pleat_string_add(line, "\033[0m");
}

/* Adds a job's line. Its columns are counted, so that it is not wrapped. */
static void add_job(const struct pleat_mix_progress *progress, const struct pleat_mix *mix,
                    const struct pleat_mix_job *job, struct pleat_string *line)
{
    struct pleat_string name = {0}, more = {0};
    int bar = mix->processors < BAR_MAX ? mix->processors : BAR_MAX;
    bool have_room = progress->term.width > 14 + 11 + bar + 8;
    pleat_term_add(&progress->term, &name, job->submission.name, 14);
    int pad = 14 - pleat_term_width(&progress->term, name.text ? name.text : "");
    pleat_string_addf(line, "%s%*s ", name.text ? name.text : "", pad > 0 ? pad : 0, "");
    pleat_string_addf(line, "%-10.10s", job->job ? job->state : "to come");
    if (have_room) {
        pleat_string_add(line, " ");
        add_bar(progress, mix, job, line);
        pleat_string_addf(&more, " %3d", job->processors);
    }
    if (job->iteration >= 0)
        pleat_string_addf(&more, "  iteration %lld", (long long)job->iteration);
    int left = progress->term.width - 25 - (have_room ? bar + 1 : 0);
    if (more.text && left > 0)
        pleat_term_add(&progress->term, line, more.text, left);
    pleat_string_finish(&name);
    pleat_string_finish(&more);
}

static void add_summary(const struct pleat_mix *mix, double now_s, struct pleat_string *line)
{
    int used = 0, running = 0, waiting = 0, ended = 0;
    char span[PLEAT_TIME_SIZE];
    for (size_t i = 0; i < mix->jobs.count; i++) {
        const struct pleat_mix_job *job = &mix->jobs.items[i];
        used += job->ended ? 0 : job->processors;
        ended += job->ended;
        running += !job->ended && job->processors > 0;
        waiting += job->job && !job->ended && job->processors == 0;
    }
    pleat_string_addf(line, "%s: %d of %d processors, %d running, %d waiting, %d ended",
                      pleat_time_span(now_s, span), used, mix->processors, running, waiting, ended);
}

void pleat_mix_progress_draw(struct pleat_mix_progress *progress, const struct pleat_mix *mix,
                             double now_s)
{
    struct pleat_string out = {0}, line = {0}, cut = {0};
    int lines = 1, most = progress->term.height > 3 ? progress->term.height - 2 : 20;
    if (progress->drawn > 0)
        pleat_string_addf(&out, "\033[%dA", progress->drawn);
    add_summary(mix, now_s, &line);
    pleat_term_add(&progress->term, &cut, line.text ? line.text : "", progress->term.width - 1);
    pleat_string_addf(&out, "\r\033[K%s\n", cut.text ? cut.text : "");
    bool all_fit = mix->jobs.count < (size_t)most;
    for (size_t i = 0; i < mix->jobs.count && lines < most; i++) {
        const struct pleat_mix_job *job = &mix->jobs.items[i];
        if (!all_fit && (!job->job || job->ended))
            continue; /* there are too many jobs for the terminal: only running ones are shown */
        line.length = 0;
        add_job(progress, mix, job, &line);
        pleat_string_addf(&out, "\r\033[K%s\n", line.text ? line.text : "");
        lines++;
    }
    pleat_string_add(&out, "\033[J"); /* removes the rest of a longer block */
    progress->drawn = lines;
    if (!out.failed && out.text)
        fputs(out.text, stdout);
    fflush(stdout);
    pleat_string_finish(&out);
    pleat_string_finish(&line);
    pleat_string_finish(&cut);
}

/* ---- no terminal: a line for each change ---- */

static bool worth_a_line(const json_t *event)
{
    if (pleat_reply_is(event, "kind", "resize"))
        return pleat_reply_is(event, "step", "ended");
    return pleat_reply_is(event, "kind", "state") || pleat_reply_is(event, "kind", "size") ||
           pleat_reply_is(event, "kind", "warning");
}

void pleat_mix_progress_event(const struct pleat_mix_progress *progress,
                              const struct pleat_mix *mix, const struct pleat_mix_job *job,
                              const json_t *event)
{
    struct pleat_string text = {0}, line = {0};
    if (!worth_a_line(event))
        return;
    pleat_event_add_text(event, &text);
    pleat_string_addf(&line, "%7.2f s  job %lld ",
                      pleat_reply_real(event, "time_s") - mix->started_s, (long long)job->job);
    pleat_term_add(&progress->term, &line, job->submission.name, 0);
    pleat_string_add(&line, ": ");
    pleat_term_add(&progress->term, &line, text.text ? text.text : "", 0);
    if (!line.failed)
        puts(line.text);
    fflush(stdout);
    pleat_string_finish(&text);
    pleat_string_finish(&line);
}

/* run.c - applications from tables, one run, and the sizes in it. */
#include "experiments/resizable/resizable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const int32_t resizable_sizes[SIZES] = {2, 4, 6, 9, 12, 16, 20, 25};
const double resizable_product[SIZES - 1] = {46.9, 20.9, 25.8, 9.4, 19.7, 4.1, 0};
const double resizable_factors[SIZES - 1] = {51.9, 11.3, 28.5, 12.6, 12.0, -20.5, 0};

void resizable_times(double on_2_s, const double *percent, double *times_s)
{
    times_s[0] = on_2_s;
    for (int i = 1; i < SIZES; i++)
        times_s[i] = times_s[i - 1] * (1 - percent[i - 1] / 100);
}

static double time_on(const struct resizable_job *job, int32_t size)
{
    for (int i = 0; i < SIZES; i++)
        if (resizable_sizes[i] == size)
            return job->times_s[i];
    return NAN; /* the check of the workload refuses NAN */
}

static int add_job(struct pleat_workload *workload, const struct resizable_job *from)
{
    struct pleat_app app = {
        .speedup = {PLEAT_SPEEDUP_TABLE, .first = (uint32_t)workload->table.count, .count = SIZES},
        .cost = {.fixed_us = llround(from->redistribution_s * 1e6)},
        .iterations = from->iterations};
    for (int i = 0; i < SIZES; i++) {
        struct pleat_table_row row = {resizable_sizes[i],
                                      llround(from->times_s[i] * from->iterations * 1e6)};
        if (pleat_array_push(&workload->table, row))
            return PLEAT_E_NOMEM;
    }
    struct pleat_workload_job job = {
        .number = (int64_t)workload->jobs.count + 1,
        .submit_us = llround(from->submit_s * 1e6),
        .run_us = llround(time_on(from, from->initial) * from->iterations * 1e6),
        .processors = from->initial,
        /* the thesis: the user says with how many processors the job starts */
        .minimum = from->initial,
        .maximum = from->rigid ? from->initial : resizable_sizes[SIZES - 1],
        .initial = from->initial,
        .app = (uint32_t)workload->apps.count,
        .site = PLEAT_NONE,
        .user = -1,
        .kind = from->rigid ? PLEAT_RIGID : PLEAT_MALLEABLE,
        .sizes_kind = from->rigid ? PLEAT_SIZES_ANY : PLEAT_SIZES_LIST};
    return pleat_array_push(&workload->apps, app) || pleat_array_push(&workload->jobs, job)
               ? PLEAT_E_NOMEM
               : 0;
}

int resizable_run(const struct pleat_study *study, const struct resizable_job *jobs, size_t count,
                  int32_t processors, const char *approach, struct resizable_trial *trial,
                  struct pleat_error *err)
{
    struct pleat_platform platform = {0};
    struct pleat_sim_options options = {.platform = &platform};
    *trial = (struct resizable_trial){0};
    int rc = pleat_workload_init(&trial->workload);
    if (!rc)
        rc = pleat_platform_add(&platform, "cluster", processors);
    for (size_t i = 0; !rc && i < count; i++)
        rc = add_job(&trial->workload, &jobs[i]);
    if (rc)
        pleat_error_set(err, rc, "out of memory for the workload");
    char policies[100];
    snprintf(policies, sizeof(policies),
             "approach=%s queue=fcfs moldability=available malleability=sweet-spot", approach);
    if (!rc)
        rc = pleat_trial_policies(&options, policies, err);
    if (!rc)
        rc = pleat_trial_run(&trial->trial, study, &trial->workload, &options, true, err);
    pleat_platform_finish(&platform);
    return rc;
}

void resizable_finish(struct resizable_trial *trial)
{
    pleat_trial_finish(&trial->trial);
    pleat_workload_finish(&trial->workload);
}

/* ---- sizes ---- */

int32_t resizable_size_at(const struct resizable_trial *trial, size_t job, double time_s)
{
    int32_t size = 0;
    for (size_t i = 0; i < trial->trial.changes.count; i++) {
        const struct pleat_sim_change *change = &trial->trial.changes.items[i];
        if (change->job == job && (double)change->time_us <= time_s * 1e6)
            size = change->to;
    }
    return size;
}

int32_t resizable_least(const struct resizable_trial *trial, size_t job, double from_s, double to_s)
{
    int32_t least = resizable_size_at(trial, job, from_s);
    for (size_t i = 0; i < trial->trial.changes.count; i++) {
        const struct pleat_sim_change *change = &trial->trial.changes.items[i];
        double time_s = (double)change->time_us / 1e6;
        if (change->job == job && time_s >= from_s && time_s <= to_s && change->to < least)
            least = change->to;
    }
    return least;
}

size_t resizable_sizes_of(const struct resizable_trial *trial, size_t job, double from_s,
                          int32_t *sizes, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < trial->trial.changes.count; i++) {
        const struct pleat_sim_change *change = &trial->trial.changes.items[i];
        if (change->job == job && (double)change->time_us >= from_s * 1e6 && change->to > 0 &&
            count < room)
            sizes[count++] = change->to;
    }
    return count;
}

struct pleat_string resizable_sizes_text(const struct resizable_trial *trial, size_t job)
{
    enum { ROOM = 100 };
    struct pleat_string text = {0};
    int32_t sizes[ROOM];
    size_t count = resizable_sizes_of(trial, job, 0, sizes, ROOM);
    for (size_t i = 0; i < count; i++)
        pleat_string_addf(&text, "%s%d", i > 0 ? ", " : "", sizes[i]);
    return text;
}

int resizable_lines(const struct resizable_trial *trial, struct resizable_lines *lines)
{
    static const char *const titles[DRAWN_JOBS] = {"job 0", "job 1", "job 2", "job 3",
                                                   "job 4", "job 5", "job 6", "job 7"};
    const struct pleat_sim_changes *changes = &trial->trial.changes;
    *lines = (struct resizable_lines){0};
    for (size_t job = 0; job < trial->workload.jobs.count && job < DRAWN_JOBS; job++) {
        lines->x[job] = calloc(changes->count + 1, sizeof(double));
        lines->y[job] = calloc(changes->count + 1, sizeof(double));
        if (!lines->x[job] || !lines->y[job])
            return PLEAT_E_NOMEM;
        size_t count = 0;
        for (size_t i = 0; i < changes->count; i++) {
            if (changes->items[i].job != job)
                continue;
            lines->x[job][count] = (double)changes->items[i].time_us / 1e6;
            lines->y[job][count++] = changes->items[i].to;
        }
        lines->series[job] =
            (struct pleat_plot_series){titles[job], lines->x[job], lines->y[job], count};
    }
    return 0;
}

void resizable_lines_finish(struct resizable_lines *lines)
{
    for (int job = 0; job < DRAWN_JOBS; job++) {
        free(lines->x[job]);
        free(lines->y[job]);
    }
}

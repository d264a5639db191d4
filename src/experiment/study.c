/* Running an experiment, and collecting its results. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment.h"
#include "experiment/pool.h"
#include "figure/gnuplot.h"

/* ---- runs ---- */

struct each {
    struct pleat_study *study;
    const char *what;
    size_t count;
    int (*task)(void *context, size_t index, struct pleat_error *err);
    void *context;
};

static int run_task(void *context, size_t index, struct pleat_error *err)
{
    const struct each *each = context;
    return each->task(each->context, index, err);
}

static void tell_progress(void *context, size_t done)
{
    const struct each *each = context;
    if (each->study->progress)
        each->study->progress(each->study->context, each->what, done, each->count);
}

int pleat_study_each(struct pleat_study *study, const char *what, size_t count,
                     int (*task)(void *context, size_t index, struct pleat_error *err),
                     void *context, struct pleat_error *err)
{
    struct each each = {study, what, count, task, context};
    struct pleat_pool pool = {.count = count,
                              .threads = study->threads,
                              .run = run_task,
                              .attend = tell_progress,
                              .context = &each,
                              .interrupt = study->interrupt};
    return pleat_pool_run(&pool, err);
}

bool pleat_study_stops(const struct pleat_study *study)
{
    return study->interrupt && *study->interrupt;
}

struct sweeping {
    const struct pleat_study *study;
    const struct pleat_sweep *sweep;
    struct pleat_numbers *numbers;
};

/* One run of a sweep: runs are ordered by seed, and for each seed by setting. */
static int run_setting(void *context, size_t index, struct pleat_error *err)
{
    const struct sweeping *sweeping = context;
    const struct pleat_sweep *sweep = sweeping->sweep;
    struct pleat_numbers *numbers = sweeping->numbers;
    size_t setting = index % sweep->settings, seed = index / sweep->settings;
    double *metrics = calloc(sweep->metrics + 1, sizeof(*metrics));
    if (!metrics)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (size_t m = 0; m < sweep->metrics; m++)
        metrics[m] = pleat_numbers_of(numbers, setting, m)[seed];
    int rc = sweep->run(sweep->context, sweeping->study, setting, sweeping->study->seed + seed,
                        metrics, err);
    for (size_t m = 0; m < sweep->metrics; m++)
        pleat_numbers_of(numbers, setting, m)[seed] = metrics[m];
    free(metrics);
    return rc;
}

int pleat_study_sweep(struct pleat_study *study, const struct pleat_sweep *sweep,
                      struct pleat_numbers *numbers, struct pleat_error *err)
{
    struct sweeping sweeping = {study, sweep, numbers};
    size_t seeds = sweep->seeds > 0 && sweep->seeds < study->seeds ? sweep->seeds : study->seeds;
    if (pleat_numbers_init(numbers, sweep->settings, sweep->metrics, seeds))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the results");
    return pleat_study_each(study, sweep->what, sweep->settings * seeds, run_setting, &sweeping,
                            err);
}

/* ---- what is told ---- */

void pleat_study_shape(struct pleat_study *study, const struct pleat_shape *shape,
                       const char *measured, ...)
{
    struct pleat_shape_found found = {strdup(shape->statement), strdup(shape->where), NULL,
                                      shape->expected, shape->holds};
    va_list arguments;
    va_start(arguments, measured);
    if (vasprintf(&found.measured, measured, arguments) < 0)
        found.measured = NULL;
    va_end(arguments);
    if (found.statement && found.where && found.measured &&
        !pleat_array_push(&study->shapes, found))
        return;
    free(found.statement);
    free(found.where);
    free(found.measured);
    study->out_of_memory = true;
}

void pleat_study_value(struct pleat_study *study, const char *name, struct pleat_estimate estimate)
{
    struct pleat_figure_value value = {strdup(name), estimate};
    if (value.name && !pleat_array_push(&study->values, value))
        return;
    free(value.name);
    study->out_of_memory = true;
}

enum pleat_label pleat_study_label(const struct pleat_shape_found *shape)
{
    if (!shape->holds)
        return PLEAT_NOT_FOUND;
    return shape->expected == PLEAT_FITTED ? PLEAT_FITTED : PLEAT_CLAIMED;
}

const char *pleat_label_name(enum pleat_label label)
{
    static const char *const names[] = {"not found", "fitted", "claimed"};
    return names[label];
}

bool pleat_study_asserts(const struct pleat_study *study, const struct pleat_shape_found *shape)
{
    return shape->expected != PLEAT_NOT_FOUND && !study->quick;
}

bool pleat_study_holds(const struct pleat_study *study)
{
    for (size_t i = 0; i < study->shapes.count; i++)
        if (pleat_study_asserts(study, &study->shapes.items[i]) && !study->shapes.items[i].holds)
            return false;
    return true;
}

/* ---- from its beginning to its end ---- */

/* A user without gnuplot learns it before minutes of simulations. */
static int try_drawing(struct pleat_error *err)
{
    struct pleat_string script = {0}, out = {0};
    pleat_string_add(&script, "set encoding utf8\n");
    int rc = pleat_gnuplot_run(&script, &out, err);
    pleat_string_finish(&script);
    pleat_string_finish(&out);
    return rc;
}

int pleat_study_run(struct pleat_study *study, struct pleat_error *err)
{
    int rc = try_drawing(err);
    if (!rc)
        rc = study->experiment->run(study, err);
    if (!rc && (study->out_of_memory || study->page.text.failed))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the page");
    return rc;
}

void pleat_study_finish(struct pleat_study *study)
{
    for (size_t i = 0; i < study->shapes.count; i++) {
        free(study->shapes.items[i].statement);
        free(study->shapes.items[i].where);
        free(study->shapes.items[i].measured);
    }
    for (size_t i = 0; i < study->values.count; i++)
        free(study->values.items[i].name);
    pleat_array_finish(&study->shapes);
    pleat_array_finish(&study->values);
    pleat_page_finish(&study->page);
}

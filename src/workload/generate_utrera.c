/* generate_utrera.c - the workloads of Utrera 2010 (3.6; tables 3.2, 5.2, 5.3, 6.1 to 6.3).
 *
 * Table 3.2 is printed with its columns mixed up. Its header is 1, 8, 9, 16, 25, 32, 36, 49 and 64
 * processes. bt runs on squares (five sizes beside the sequential one: 9 to 49), the other programs
 * on powers of two (8 to 64). Jobs may also have squares and powers of two that are not in the
 * table, as the lists of figure 3.3 have 2 and 4. Speedups are superlinear, so run times are taken
 * from the table unchanged.
 *
 * bt.W and ep.C, which tables 5.2 and 6.2 use, are not in table 3.2. They are taken as bt.A and
 * ep.B with another amount of work, by the definition of the classes of the NAS benchmarks. bt.W
 * has 24^3 points instead of 64^3 (sequentially 129 s). ep.C has four times the numbers of ep.B
 * (1492 s).
 */
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "workload/generate-internal.h"

#define BT_W (24.0 * 24 * 24 / (64.0 * 64 * 64))

enum { TABLE_ROWS = 6, LONG_APPS = 2, SHORT_APPS = 2, MIX_APPS = LONG_APPS + SHORT_APPS };

struct measured {
    const char *name;
    enum pleat_sizes_kind sizes;
    double scale;
    struct {
        int32_t processors;
        double seconds;
    } rows[TABLE_ROWS];
};

enum app { BT_A, BT_W_SMALL, CG_B, EP_B, EP_C, SWEEP3D };

static const struct measured table[] = {
    [BT_A] = {"bt.A-long",
              PLEAT_SIZES_SQUARES,
              1,
              {{1, 2441}, {9, 300}, {16, 185}, {25, 100}, {36, 66}, {49, 50}}},
    [BT_W_SMALL] = {"bt.W-short",
                    PLEAT_SIZES_SQUARES,
                    BT_W,
                    {{1, 2441}, {9, 300}, {16, 185}, {25, 100}, {36, 66}, {49, 50}}},
    [CG_B] = {"cg.B-long",
              PLEAT_SIZES_POWERS,
              1,
              {{1, 4385}, {8, 475}, {16, 180}, {32, 88}, {64, 57}}},
    [EP_B] = {"ep.B-short",
              PLEAT_SIZES_POWERS,
              1,
              {{1, 373}, {8, 49}, {16, 24}, {32, 14}, {64, 7}}},
    [EP_C] = {"ep.C-long", PLEAT_SIZES_POWERS, 4, {{1, 373}, {8, 49}, {16, 24}, {32, 14}, {64, 7}}},
    [SWEEP3D] = {"sweep3D-short",
                 PLEAT_SIZES_POWERS,
                 1,
                 {{1, 50}, {8, 6}, {16, 5}, {32, 5}, {64, 5}}},
};

/* The mixes, with shares of the machine; those of "high" and "low" are at the default load. */
static const struct mix {
    const char *name;
    double share_long, share_short;
    int long_count, short_count;
    enum app apps[MIX_APPS]; /* long applications, then short ones */
    bool short_fixed;        /* another load than the mix's only changes the long share */
} mixes[] = {
    {"w1", 0.4, 0.1, 2, 2, {BT_A, CG_B, BT_W_SMALL, SWEEP3D}, false},
    {"w2", 0.4, 0.2, 2, 2, {BT_A, CG_B, BT_W_SMALL, SWEEP3D}, false},
    {"w3", 0.4, 0.3, 2, 2, {BT_A, CG_B, BT_W_SMALL, SWEEP3D}, false},
    {"w4", 0.1, 0.4, 2, 2, {BT_A, CG_B, BT_W_SMALL, SWEEP3D}, false},
    {"w5", 0.2, 0.4, 2, 2, {BT_A, CG_B, BT_W_SMALL, SWEEP3D}, false},
    {"w6", 0.3, 0.4, 2, 2, {BT_A, CG_B, BT_W_SMALL, SWEEP3D}, false},
    {"high", 0.6, 0.2, 2, 2, {BT_A, CG_B, BT_W_SMALL, SWEEP3D}, true},
    {"low", 0.6, 0.2, 1, 2, {EP_C, EP_B, SWEEP3D}, true},
};
enum { MIXES = sizeof(mixes) / sizeof(mixes[0]) };

static const struct mix *find_mix(const char *name, struct pleat_error *err)
{
    struct pleat_string names = {0};
    for (size_t i = 0; i < MIXES; i++)
        if (name && !strcmp(mixes[i].name, name))
            return &mixes[i];
    for (size_t i = 0; i < MIXES; i++)
        pleat_string_addf(&names, "%s%s", i ? ", " : "", mixes[i].name);
    pleat_error_set(err, PLEAT_E_INVALID, "there is no mix '%s': take one of %s", name ? name : "",
                    names.text ? names.text : "");
    pleat_string_finish(&names);
    return NULL;
}

static int check(const struct pleat_utrera_model *model, const struct mix *mix,
                 struct pleat_error *err)
{
    if (model->jobs == 0 && model->duration_s == 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "say how many jobs, or for how long they arrive");
    if (!(model->duration_s >= 0 && model->duration_s <= GENERATE_RUN_MAX_S))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "arrivals for %g s: must be from 0 (no limit) to %g",
                               model->duration_s, GENERATE_RUN_MAX_S);
    if (!(model->load >= 0 && model->load <= 2))
        return pleat_error_set(err, PLEAT_E_INVALID, "load %g: must be from 0 (the mix's own) to 2",
                               model->load);
    if (mix->short_fixed && model->load > 0 && model->load < mix->share_short)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "load %g: in mix %s short jobs alone are %g, so it must be at "
                               "least that",
                               model->load, mix->name, mix->share_short);
    return pleat_generate_check(model->jobs ? model->jobs : 1, model->machine, 1, 0, err);
}

/* ---- rates ---- */

/* Sets rates in jobs per second: lambda_i = P x U x Frac_i / T_i(1) (Utrera 2010, equation 3.2). */
static void set_rates(const struct pleat_utrera_model *model, const struct mix *mix, double *rates)
{
    double of_long = mix->share_long, of_short = mix->share_short;
    if (model->load > 0 && mix->short_fixed) {
        of_long = model->load - of_short;
    } else if (model->load > 0) {
        double factor = model->load / (of_long + of_short);
        of_long *= factor;
        of_short *= factor;
    }
    for (int i = 0; i < mix->long_count + mix->short_count; i++) {
        const struct measured *app = &table[mix->apps[i]];
        double share =
            i < mix->long_count ? of_long / mix->long_count : of_short / mix->short_count;
        rates[i] = model->machine * share / (app->rows[0].seconds * app->scale);
    }
}

/* ---- applications ---- */

static int64_t row_us(const struct measured *app, int row)
{
    return pleat_generate_us(app->rows[row].seconds * app->scale, 0);
}

/* Rows of an application that fit the machine; at least the first. */
static int rows_on(const struct measured *app, int32_t machine)
{
    int rows = 1;
    while (rows < TABLE_ROWS && app->rows[rows].processors > 0 &&
           app->rows[rows].processors <= machine)
        rows++;
    return rows;
}

/* Appends an application, for which room was made. */
static void add_app(struct pleat_workload *workload, const struct measured *measured)
{
    struct pleat_app app = {
        .speedup = {.kind = PLEAT_SPEEDUP_TABLE, .first = (uint32_t)workload->table.count}};
    snprintf(app.name, sizeof(app.name), "%s", measured->name);
    for (int i = 0; i < TABLE_ROWS && measured->rows[i].processors > 0; i++) {
        workload->table.items[workload->table.count++] =
            (struct pleat_table_row){measured->rows[i].processors, row_us(measured, i)};
        app.speedup.count++;
    }
    workload->apps.items[workload->apps.count++] = app;
}

static struct pleat_workload_job make_job(const struct pleat_utrera_model *model,
                                          const struct measured *app, int64_t number)
{
    int last = rows_on(app, model->machine) - 1;
    struct pleat_workload_job job = pleat_generate_job(number, app->rows[last].processors);
    job.run_us = row_us(app, last);
    if (model->kind != PLEAT_RIGID) {
        job.kind = (uint8_t)model->kind;
        job.minimum = 1;
        job.sizes_kind = (uint8_t)app->sizes;
    }
    if (model->kind == PLEAT_MALLEABLE)
        job.mpl_max = model->mpl_max;
    return job;
}

/* ---- all of it ---- */

static int choose(const double *rates, int count, double total, const gsl_rng *rng)
{
    double at = gsl_rng_uniform(rng) * total;
    int i = 0;
    while (i < count - 1 && at >= rates[i])
        at -= rates[i++];
    return i;
}

static int draw_jobs(const struct pleat_utrera_model *model, const struct mix *mix,
                     const gsl_rng *gaps, const gsl_rng *choices, struct pleat_workload *workload,
                     struct pleat_error *err)
{
    double rates[MIX_APPS] = {0}, total = 0, at = 0;
    int count = mix->long_count + mix->short_count;
    set_rates(model, mix, rates);
    for (int i = 0; i < count; i++)
        total += rates[i];
    size_t limit = model->jobs ? model->jobs : PLEAT_GENERATE_JOBS_MAX;
    while (workload->jobs.count < limit) {
        at += gsl_ran_exponential(gaps, 1 / total);
        if (model->duration_s > 0 && at > model->duration_s)
            break;
        int which = choose(rates, count, total, choices);
        struct pleat_workload_job job =
            make_job(model, &table[mix->apps[which]], (int64_t)workload->jobs.count + 1);
        job.submit_us = pleat_generate_us(at, 0);
        job.app = (uint32_t)(workload->apps.count + (size_t)which);
        job.job_class = which < mix->long_count ? PLEAT_CLASS_LONG : PLEAT_CLASS_SHORT;
        if (pleat_array_push(&workload->jobs, job))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    if (workload->jobs.count == 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "no job arrives within %g s: one comes every %.3g s on average",
                               model->duration_s, 1 / total);
    return 0;
}

int pleat_generate_utrera(const struct pleat_utrera_model *model, struct pleat_workload *workload,
                          struct pleat_error *err)
{
    const struct mix *mix = find_mix(model->mix, err);
    int status = mix ? check(model, mix, err) : PLEAT_E_INVALID;
    if (status)
        return status;
    size_t apps = workload->apps.count, rows = workload->table.count;
    struct pleat_stream *gaps = pleat_generate_stream(model->seed, 0);
    struct pleat_stream *choices = pleat_generate_stream(model->seed, 1);
    if (!gaps || !choices || pleat_array_reserve(&workload->apps, MIX_APPS) ||
        pleat_array_reserve(&workload->table, (size_t)MIX_APPS * TABLE_ROWS))
        status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    else
        status = draw_jobs(model, mix, &gaps->rng, &choices->rng, workload, err);
    if (!status) {
        for (int i = 0; i < mix->long_count + mix->short_count; i++)
            add_app(workload, &table[mix->apps[i]]);
        status = pleat_generate_accept(workload, workload->jobs.count, model->machine, err);
    }
    if (status) {
        workload->jobs.count = 0;
        workload->apps.count = apps;
        workload->table.count = rows;
    }
    pleat_stream_destroy(gaps);
    pleat_stream_destroy(choices);
    return status;
}

/* tables.c - the workload and the results as tables of columns. Their names are those of the files
 * and of the JSON of `pleat sim`; docs/simulation-from-python.md lists them. */
#include <math.h>
#include <string.h>

#include "experiment/series.h"
#include "simlib/simulation.h"
#include "workload/statistics.h"

enum { TAU_S = 10 }; /* of the bounded slowdown */

static const char *const kinds[] = {"rigid", "moldable", "malleable"};
static const char *const fates[] = {"done", "skipped", "rejected", "failed", "killed", "left"};

/* ---- columns ---- */

static void *add_column(struct sim_table *table, const char *name, int kind, size_t size)
{
    struct pleat_simulation_column *column = &table->columns[table->count];
    void *values =
        table->failed || table->count == TABLE_COLUMNS_MAX ? NULL : calloc(table->rows + 1, size);
    if (!values) {
        table->failed = true;
        return NULL;
    }
    *column = (struct pleat_simulation_column){.name = name, .values = values, .kind = kind};
    table->count++;
    return values;
}

/* One column: `expression` gives the value of row i. */
#define INTEGERS(table, name, kind, expression)                                                    \
    do {                                                                                           \
        int64_t *values_ = add_column((table), (name), (kind), sizeof(int64_t));                   \
        for (size_t i = 0; values_ && i < (table)->rows; i++)                                      \
            values_[i] = (int64_t)(expression);                                                    \
    } while (0)
#define INTEGER(table, name, expression) INTEGERS(table, name, PLEAT_COLUMN_INTEGER, expression)
#define REAL(table, name, expression)                                                              \
    do {                                                                                           \
        double *values_ = add_column((table), (name), PLEAT_COLUMN_REAL, sizeof(double));          \
        for (size_t i = 0; values_ && i < (table)->rows; i++)                                      \
            values_[i] = (double)(expression);                                                     \
    } while (0)
#define LABEL(table, name, list, number, expression)                                               \
    do {                                                                                           \
        INTEGERS(table, name, PLEAT_COLUMN_LABEL, expression);                                     \
        if (!(table)->failed) {                                                                    \
            (table)->columns[(table)->count - 1].labels = (list);                                  \
            (table)->columns[(table)->count - 1].label_count = (number);                           \
        }                                                                                          \
    } while (0)

static double seconds(int64_t us)
{
    return us == PLEAT_NEVER ? (double)NAN : (double)us / 1e6;
}

/* A time that is 0 where there is none. */
static double seconds_if_any(int64_t us)
{
    return us > 0 ? (double)us / 1e6 : (double)NAN;
}

static double between(int64_t from_us, int64_t to_us)
{
    return from_us == PLEAT_NEVER || to_us == PLEAT_NEVER ? (double)NAN
                                                          : (double)(to_us - from_us) / 1e6;
}

/* ---- tables ---- */

static void make_workload(struct pleat_simulation *simulation, struct sim_table *table)
{
    const struct pleat_workload_job *jobs = simulation->workload.jobs.items;
    table->rows = simulation->workload.jobs.count;
    INTEGER(table, "job", jobs[i].number);
    REAL(table, "submit_s", seconds(jobs[i].submit_us));
    REAL(table, "run_s", seconds(jobs[i].run_us));
    REAL(table, "estimate_s", seconds_if_any(jobs[i].estimate_us));
    INTEGER(table, "processors", jobs[i].processors);
    LABEL(table, "kind", kinds, sizeof(kinds) / sizeof(kinds[0]), jobs[i].kind);
    INTEGER(table, "minimum", jobs[i].minimum);
    INTEGER(table, "maximum", jobs[i].maximum);
    INTEGER(table, "initial", jobs[i].initial);
    INTEGER(table, "app", jobs[i].app);
    INTEGER(table, "user", jobs[i].user);
    INTEGER(table, "priority", jobs[i].priority);
    REAL(table, "deadline_s", seconds_if_any(jobs[i].deadline_us));
    INTEGER(table, "preceding", jobs[i].preceding);
    REAL(table, "think_s", seconds(jobs[i].think_us));
}

static void make_jobs(struct pleat_simulation *simulation, struct sim_table *table)
{
    const struct pleat_workload_job *jobs = simulation->workload.jobs.items;
    const struct pleat_sim_outcome *of = simulation->outcomes;
    table->rows = simulation->workload.jobs.count;
    INTEGER(table, "job", jobs[i].number);
    REAL(table, "submit_s", seconds(of[i].submit_us));
    REAL(table, "start_s", seconds(of[i].start_us));
    REAL(table, "end_s", seconds(of[i].end_us));
    INTEGER(table, "processors", of[i].processors);
    LABEL(table, "site", simulation->site_names, simulation->used.sites.count,
          of[i].start_us == PLEAT_NEVER ? -1 : (int64_t)of[i].site);
    REAL(table, "wait_s", between(of[i].submit_us, of[i].start_us));
    REAL(table, "response_s",
         of[i].start_us == PLEAT_NEVER ? (double)NAN : between(of[i].submit_us, of[i].end_us));
    REAL(table, "slowdown",
         of[i].start_us == PLEAT_NEVER || of[i].end_us == PLEAT_NEVER
             ? (double)NAN
             : pleat_bounded_slowdown(between(of[i].submit_us, of[i].start_us),
                                      between(of[i].start_us, of[i].end_us), TAU_S));
    REAL(table, "average_processors", of[i].average);
    INTEGER(table, "grown", of[i].grown);
    INTEGER(table, "shrunk", of[i].shrunk);
    INTEGER(table, "restarts", of[i].restarts);
    LABEL(table, "fate", fates, sizeof(fates) / sizeof(fates[0]), of[i].fate);
    LABEL(table, "kind", kinds, sizeof(kinds) / sizeof(kinds[0]), jobs[i].kind);
    INTEGER(table, "user", jobs[i].user);
}

static void make_resizes(struct pleat_simulation *simulation, struct sim_table *table)
{
    const struct pleat_workload_job *jobs = simulation->workload.jobs.items;
    const struct pleat_sim_change *of = simulation->resizes.items;
    table->rows = simulation->resizes.count;
    INTEGER(table, "job", jobs[of[i].job].number);
    REAL(table, "time_s", seconds(of[i].time_us));
    REAL(table, "decided_s", seconds(of[i].decided_us));
    INTEGER(table, "from", of[i].from);
    INTEGER(table, "to", of[i].to);
    INTEGER(table, "offered", of[i].offered);
    INTEGER(table, "mandatory", of[i].mandatory);
    REAL(table, "stood_s", seconds(of[i].stood_us));
    LABEL(table, "site", simulation->site_names, simulation->used.sites.count, of[i].site);
}

static void make_series(struct pleat_simulation *simulation, struct sim_table *table)
{
    struct pleat_series series = {0};
    if (pleat_series_make(&simulation->workload, simulation->outcomes, &simulation->edges,
                          &series)) {
        table->failed = true;
        return;
    }
    const struct pleat_series_point *at = series.items;
    table->rows = series.count;
    REAL(table, "time_s", seconds(at[i].at_us));
    INTEGER(table, "processors", at[i].processors);
    INTEGER(table, "running_jobs", at[i].running);
    INTEGER(table, "queued_jobs", at[i].queued);
    INTEGER(table, "queued_processors", at[i].queued_processors);
    pleat_array_finish(&series);
}

/* ---- the summary ---- */

static const char *const names[][6] = {
    {"wait_s_mean", "wait_s_deviation", "wait_s_least", "wait_s_median", "wait_s_p95",
     "wait_s_most"},
    {"response_s_mean", "response_s_deviation", "response_s_least", "response_s_median",
     "response_s_p95", "response_s_most"},
    {"bounded_slowdown_mean", "bounded_slowdown_deviation", "bounded_slowdown_least",
     "bounded_slowdown_median", "bounded_slowdown_p95", "bounded_slowdown_most"}};

static void add_summary(struct sim_table *table, int which, double *values, size_t count)
{
    struct pleat_summary summary;
    pleat_summarize(values, count, &summary);
    const double of[] = {summary.mean,   summary.deviation, summary.least,
                         summary.median, summary.p95,       summary.most};
    for (size_t n = 0; n < sizeof(of) / sizeof(of[0]); n++)
        REAL(table, names[which][n], count > 0 ? of[n] : (double)NAN);
}

/* Waits, responses and slowdowns of the jobs that have ended. */
static void add_jobs(const struct pleat_simulation *simulation, struct sim_table *table)
{
    size_t jobs = simulation->workload.jobs.count, count = 0;
    double *values = calloc(jobs * 3 + 1, sizeof(*values));
    if (!values) {
        table->failed = true;
        return;
    }
    for (size_t i = 0; i < jobs; i++) {
        const struct pleat_sim_outcome *of = &simulation->outcomes[i];
        if (of->fate != PLEAT_SIM_DONE && of->fate != PLEAT_SIM_KILLED)
            continue;
        values[count] = between(of->submit_us, of->start_us);
        values[jobs + count] = between(of->submit_us, of->end_us);
        values[2 * jobs + count] =
            pleat_bounded_slowdown(values[count], between(of->start_us, of->end_us), TAU_S);
        count++;
    }
    for (int which = 0; which < 3; which++)
        add_summary(table, which, values + (size_t)which * jobs, count);
    free(values);
}

static void make_summary(struct pleat_simulation *simulation, struct sim_table *table)
{
    const struct pleat_sim_totals *of = &simulation->totals;
    double available = of->capacity_us - of->background_us;
    table->rows = 1;
    for (size_t fate = 0; fate < sizeof(fates) / sizeof(fates[0]); fate++)
        INTEGER(table, fates[fate], of->fates[fate]);
    add_jobs(simulation, table);
    REAL(table, "begin_s", seconds(of->begin_us));
    REAL(table, "end_s", seconds(of->end_us));
    REAL(table, "makespan_s", seconds(of->end_us - of->begin_us));
    REAL(table, "utilization", available > 0 ? of->busy_us / available : 0);
    REAL(table, "busy_processor_s", of->busy_us / 1e6);
    REAL(table, "background_processor_s", of->background_us / 1e6);
    REAL(table, "capacity_processor_s", of->capacity_us / 1e6);
    INTEGER(table, "grows", of->grows);
    INTEGER(table, "shrinks", of->shrinks);
    REAL(table, "resize_s", seconds(simulation->stood_us));
    REAL(table, "resize_processor_s", of->stood_us / 1e6);
    REAL(table, "wasted_processor_s", of->wasted_us / 1e6);
    INTEGER(table, "asks", of->asks);
    INTEGER(table, "asks_granted", of->asks_granted);
    INTEGER(table, "asks_partly", of->asks_partly);
    INTEGER(table, "asks_refused", of->asks_refused);
    INTEGER(table, "sections", of->sections);
    INTEGER(table, "put_off", of->put_off);
    INTEGER(table, "passes", of->passes);
    INTEGER(table, "decisions", of->decisions);
}

/* ---- all of them ---- */

static const struct {
    const char *name;
    void (*make)(struct pleat_simulation *simulation, struct sim_table *table);
    bool of_run;
} kinds_of_table[TABLES] = {[TABLE_WORKLOAD] = {"workload", make_workload, false},
                            [TABLE_JOBS] = {"jobs", make_jobs, true},
                            [TABLE_RESIZES] = {"resizes", make_resizes, true},
                            [TABLE_SERIES] = {"series", make_series, true},
                            [TABLE_SUMMARY] = {"summary", make_summary, true}};

/* The table of that name, made where it is not; NULL: there is none now. */
static struct sim_table *table_of(struct pleat_simulation *simulation, const char *name)
{
    for (int t = 0; t < TABLES; t++) {
        struct sim_table *table = &simulation->tables[t];
        if (strcmp(kinds_of_table[t].name, name) != 0)
            continue;
        if (kinds_of_table[t].of_run && !simulation->ran)
            return NULL;
        if (!table->made)
            kinds_of_table[t].make(simulation, table);
        table->made = true;
        return table;
    }
    return NULL;
}

size_t pleat_simulation_rows(struct pleat_simulation *simulation, const char *table)
{
    const struct sim_table *of = table_of(simulation, table);
    return of && !of->failed ? of->rows : 0;
}

int pleat_simulation_column(struct pleat_simulation *simulation, const char *table, size_t index,
                            struct pleat_simulation_column *column)
{
    struct sim_table *of = table_of(simulation, table);
    if (of && of->failed) {
        simulation_forget_table(of); /* another try may have the memory */
        return PLEAT_E_NOMEM;
    }
    if (!of || index >= of->count)
        return PLEAT_E_NOTFOUND;
    *column = of->columns[index];
    return 0;
}

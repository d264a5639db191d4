/* mix1.c - job mix 1 of Swaminathan 2004: figure 9, tables 3 and 4.
 *
 * The times of iterations are derived from the tables alone: those on 6 and 9 processors from the
 * totals of the static runs, those on 4 and 12 from the improvements of table 1. That there are 25
 * iterations follows from what job 0 loses by looking for its sweet spot. So the times of jobs 1
 * and 2 under the remap scheduler are predictions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "experiments/resizable/resizable.h"

enum { JOBS = 4, LAST = 3, BEFORE_S = 105 };

static const double paper_6[JOBS] = {3616, 3652, 3622, 408};
static const double paper_9[JOBS] = {2746, 2887, 2965, 408};
static const double paper_dynamic[JOBS] = {2853, 2826, 2913, 408};
#define PAPER_START 1498.0

/* What the thesis leaves unsaid. */
struct unsaid {
    int32_t iterations;
    double redistribution_s;
    double worse_12; /* % by which an iteration of job 0 is longer on 12 processors than on 9 */
    double submit_s; /* when job 3 is submitted */
};

/* The face values. For job 0, 12 processors are no better than 9, which ends its growth. Job 3 is
 * submitted one iteration before it starts: it waits until an iteration on 12 processors ends, at
 * 1498 s. */
static const struct unsaid face = {25, 0, 0, PAPER_START - BEFORE_S};

static struct unsaid draw_unsaid(uint64_t seed)
{
    struct pleat_random random;
    pleat_random_init(&random, seed);
    struct unsaid unsaid = {.iterations = 20 + (int32_t)pleat_random_below(&random, 41)};
    unsaid.redistribution_s = 5 * pleat_random_unit(&random);
    unsaid.worse_12 = 5 * pleat_random_unit(&random);
    unsaid.submit_s = PAPER_START - 2 * BEFORE_S * pleat_random_unit(&random);
    return unsaid;
}

/* The settings: which table gives the steps from 4 to 6 and from 9 to 12 processors, how many
 * processors there are, and whether idle ones count when room is made (remap-idle; the steps are
 * those of a product then). */
enum setting {
    PRODUCT_33,
    PRODUCT_34,
    PRODUCT_35,
    PRODUCT_36,
    FACTORS_33,
    FACTORS_34,
    FACTORS_35,
    FACTORS_36,
    IDLE_33,
    IDLE_34,
    IDLE_35,
    IDLE_36,
    STATIC_6,
    STATIC_9,
    SETTINGS
};

static const int32_t processors[SETTINGS] = {33, 34, 35, 36, 33, 34, 35,
                                             36, 33, 34, 35, 36, 36, 36};

static const char *approach_of(size_t setting)
{
    return setting >= IDLE_33 && setting <= IDLE_36 ? "remap-idle" : "remap";
}

static void make_jobs(const struct unsaid *unsaid, enum setting setting,
                      struct resizable_job jobs[JOBS])
{
    const double *percent =
        setting >= FACTORS_33 && setting <= FACTORS_36 ? resizable_factors : resizable_product;
    memset(jobs, 0, JOBS * sizeof(jobs[0]));
    for (int j = 0; j < JOBS; j++) {
        struct resizable_job *job = &jobs[j];
        job->iterations = j == LAST ? 4 : unsaid->iterations;
        job->redistribution_s = unsaid->redistribution_s;
        job->rigid = setting >= STATIC_6;
        job->initial = j == LAST ? 12 : setting == STATIC_6 ? 6 : setting == STATIC_9 ? 9 : 4;
        if (j == LAST) { /* its times on sizes other than 12 are not known and do not matter */
            resizable_times(1, resizable_product, job->times_s);
            for (int i = 0, at_12 = 4; i < SIZES; i++)
                job->times_s[i] *= i == at_12 ? 1 : 1 / job->times_s[at_12];
            job->times_s[4] = 1;
            for (int i = 0; i < SIZES; i++)
                job->times_s[i] *= paper_6[LAST] / job->iterations;
            /* job 3 is there from the beginning in table 3, and waits for the others in table 4 */
            job->submit_s = setting >= STATIC_6 ? 0 : unsaid->submit_s;
            continue;
        }
        double *t = job->times_s;
        t[2] = paper_6[j] / unsaid->iterations;
        t[3] = paper_9[j] / unsaid->iterations;
        t[1] = t[2] / (1 - percent[1] / 100);
        t[0] = t[1] / (1 - percent[0] / 100);
        t[4] = t[3] * (1 - (j == 0 ? -unsaid->worse_12 : percent[3]) / 100);
        for (int i = 5; i < SIZES; i++) /* job 0 gets no better, the others as in the table */
            t[i] = j == 0 ? t[i - 1] : t[i - 1] * (1 - percent[i - 1] / 100);
    }
}

enum {
    TOTAL, /* seconds from start to end of job 0, and behind it of the other jobs */
    SUM = TOTAL + JOBS,
    MAKESPAN,
    START_3,
    SPOT_0,  /* job 0 has 9 when job 3 comes */
    SETTLED, /* jobs 1 and 2 have 12 then */
    MADE,    /* jobs 0 to 2 go down to 9, 6 and 6 until job 3 starts */
    BACK,    /* jobs 1 and 2 have 12 each some time after job 3 has ended */
    METRICS
};

static bool back_on_12(const struct resizable_trial *trial, size_t job, double from_s)
{
    enum { ROOM = 32 };
    int32_t sizes[ROOM];
    size_t count = resizable_sizes_of(trial, job, from_s, sizes, ROOM);
    for (size_t i = 0; i < count; i++)
        if (sizes[i] >= 12)
            return true;
    return false;
}

static void measure(const struct resizable_trial *trial, double *metrics)
{
    const struct pleat_sim_outcome *last = &trial->trial.outcomes[LAST];
    double submit_s = (double)trial->workload.jobs.items[LAST].submit_us / 1e6;
    double start_s = (double)last->start_us / 1e6, end_s = (double)last->end_us / 1e6;
    int32_t before[LAST], with[LAST];
    metrics[SUM] = 0;
    for (size_t j = 0; j < JOBS; j++) {
        metrics[TOTAL + j] = pleat_trial_run_s(&trial->trial, j);
        metrics[SUM] += metrics[TOTAL + j];
    }
    for (size_t j = 0; j < LAST; j++) {
        before[j] = resizable_size_at(trial, j, submit_s);
        with[j] = resizable_least(trial, j, submit_s, start_s);
    }
    metrics[MAKESPAN] = pleat_trial_makespan_s(&trial->trial);
    metrics[START_3] = start_s;
    metrics[SPOT_0] = before[0] == 9;
    metrics[SETTLED] = before[1] == 12 && before[2] == 12;
    metrics[MADE] = with[0] == 9 && with[1] == 6 && with[2] == 6;
    metrics[BACK] = back_on_12(trial, 1, end_s) && back_on_12(trial, 2, end_s);
}

static int run_one(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                   double *metrics, struct pleat_error *err)
{
    struct unsaid unsaid = draw_unsaid(seed);
    struct resizable_job jobs[JOBS];
    struct resizable_trial trial;
    (void)context;
    make_jobs(&unsaid, (enum setting)setting, jobs);
    int rc =
        resizable_run(study, jobs, JOBS, processors[setting], approach_of(setting), &trial, err);
    if (!rc)
        measure(&trial, metrics);
    resizable_finish(&trial);
    return rc;
}

/* ---- at face values ---- */

struct faces {
    double metrics[SETTINGS][METRICS];
    struct pleat_string sizes[SETTINGS][JOBS];
    struct resizable_lines
        lines[2]; /* on 36 processors: as printed, and where idle processors count */
};

static int run_face(struct pleat_study *study, struct faces *faces, struct pleat_error *err)
{
    int rc = 0;
    for (size_t s = 0; !rc && s < SETTINGS; s++) {
        struct resizable_job jobs[JOBS];
        struct resizable_trial trial;
        make_jobs(&face, (enum setting)s, jobs);
        rc = resizable_run(study, jobs, JOBS, processors[s], approach_of(s), &trial, err);
        if (!rc)
            measure(&trial, faces->metrics[s]);
        for (size_t j = 0; !rc && j < JOBS; j++)
            faces->sizes[s][j] = resizable_sizes_text(&trial, j);
        if (!rc && (s == PRODUCT_36 || s == IDLE_36) &&
            resizable_lines(&trial, &faces->lines[s == IDLE_36]))
            rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the figure");
        resizable_finish(&trial);
    }
    return rc;
}

static void finish_faces(struct faces *faces)
{
    for (size_t s = 0; s < SETTINGS; s++)
        for (size_t j = 0; j < JOBS; j++)
            pleat_string_finish(&faces->sizes[s][j]);
    for (int l = 0; l < 2; l++)
        resizable_lines_finish(&faces->lines[l]);
}

static int draw_sizes(struct pleat_study *study, const struct faces *faces, struct pleat_error *err)
{
    struct pleat_plot panels[2];
    for (int l = 0; l < 2; l++)
        panels[l] = (struct pleat_plot){.title = l == 0 ? "as printed" : "idle processors count",
                                        .x_label = "seconds",
                                        .y_label = "processors of a job",
                                        .style = PLEAT_PLOT_STEPS,
                                        .y_most = 16,
                                        .series = faces->lines[l].series,
                                        .series_count = JOBS};
    return pleat_page_figure(
        &study->page, "figure-9",
        "Job mix 1 (figure 9) on 36 processors: sizes over time. By the rule as printed jobs 1 and "
        "2 go down to 6 for job 3, and one of them grows to 9 again at once, since 3 processors "
        "are idle. Where idle processors count, that job goes down to 9 only.",
        panels, 2, 1, err);
}

static int draw_totals(struct pleat_study *study, const struct faces *faces,
                       struct pleat_error *err)
{
    static const char *const names[JOBS] = {"job 0", "job 1", "job 2", "job 3"};
    static const double at[JOBS] = {0, 1, 2, 3};
    const struct pleat_plot_series series[] = {{"static 6, thesis", at, paper_6, JOBS},
                                               {"static 6", at, faces->metrics[STATIC_6], JOBS},
                                               {"static 9, thesis", at, paper_9, JOBS},
                                               {"static 9", at, faces->metrics[STATIC_9], JOBS},
                                               {"resized, thesis", at, paper_dynamic, JOBS},
                                               {"resized", at, faces->metrics[PRODUCT_33], JOBS}};
    struct pleat_plot panel = {.title = "Start to end",
                               .x_label = "",
                               .y_label = "seconds",
                               .style = PLEAT_PLOT_BARS,
                               .series = series,
                               .series_count = sizeof(series) / sizeof(series[0]),
                               .x_names = names};
    return pleat_page_figure(&study->page, "tables-3-4",
                             "Tables 3 and 4: the thesis's seconds and those found here, on 33 "
                             "processors.",
                             &panel, 1, 1, err);
}

static void tell_seconds(struct pleat_study *study, const struct faces *faces)
{
    pleat_page_table(&study->page, "job|static 6, thesis|here|static 9, thesis|here|resized, "
                                   "thesis|here, 33|here, 36");
    double sums[3] = {0, 0, 0};
    for (size_t j = 0; j < JOBS; j++) {
        pleat_page_cell(&study->page, "%zu", j);
        pleat_page_cell(&study->page, "%.0f", paper_6[j]);
        pleat_page_cell(&study->page, "%.0f", faces->metrics[STATIC_6][TOTAL + j]);
        pleat_page_cell(&study->page, "%.0f", paper_9[j]);
        pleat_page_cell(&study->page, "%.0f", faces->metrics[STATIC_9][TOTAL + j]);
        pleat_page_cell(&study->page, "%.0f", paper_dynamic[j]);
        pleat_page_cell(&study->page, "%.0f", faces->metrics[PRODUCT_33][TOTAL + j]);
        pleat_page_cell(&study->page, "%.0f", faces->metrics[PRODUCT_36][TOTAL + j]);
        sums[0] += paper_6[j];
        sums[1] += paper_9[j];
        sums[2] += paper_dynamic[j];
    }
    static const struct {
        const char *name;
        int metric;
        double paper[3];
    } rows[] = {{"job 3 starts", START_3, {0, 2965, PAPER_START}},
                {"all are done", MAKESPAN, {3652, 3373, 2913}},
                {"sum of the four", SUM, {0, 0, 0}}};
    for (size_t r = 0; r < 3; r++) {
        const double *paper = rows[r].metric == SUM ? sums : rows[r].paper;
        pleat_page_cell(&study->page, "%s", rows[r].name);
        for (int c = 0; c < 3; c++) {
            pleat_page_cell(&study->page, "%.0f", paper[c]);
            size_t setting = c == 0 ? STATIC_6 : c == 1 ? STATIC_9 : PRODUCT_33;
            pleat_page_cell(&study->page, "%.0f", faces->metrics[setting][rows[r].metric]);
        }
        pleat_page_cell(&study->page, "%.0f", faces->metrics[PRODUCT_36][rows[r].metric]);
    }
}

static void tell_sizes(struct pleat_study *study, const struct faces *faces)
{
    pleat_page_table(&study->page,
                     "<approach|<steps as of a|processors|<job 0|<job 1|<job 2|<job 3");
    for (size_t s = PRODUCT_33; s <= IDLE_36; s++) {
        pleat_page_cell(&study->page, "%s", approach_of(s));
        pleat_page_cell(&study->page, "%s",
                        s >= FACTORS_33 && s <= FACTORS_36 ? "factorization" : "product");
        pleat_page_cell(&study->page, "%d", processors[s]);
        for (size_t j = 0; j < JOBS; j++)
            pleat_page_cell(&study->page, "%s",
                            faces->sizes[s][j].text ? faces->sizes[s][j].text : "");
    }
}

/* ---- shapes ---- */

/* A shape holds if it holds at face values, and in this percentage of the draws of what is
 * unsaid. */
enum { MOST = 80 };

static void tell_flag(struct pleat_study *study, const struct faces *faces,
                      const struct pleat_numbers *numbers, int metric, size_t first, size_t last,
                      const char *statement, const char *where, enum pleat_label expected)
{
    struct pleat_string measured = {0};
    bool holds = true;
    double least = 100;
    for (size_t s = first; s <= last; s++) {
        double share = 100 * pleat_numbers_estimate(numbers, s, (size_t)metric).mean;
        bool at_face = faces->metrics[s][metric] > 0;
        holds = holds && at_face && share >= MOST;
        least = fmin(least, share);
        pleat_string_addf(&measured, "%son %d: %s at face values, in %.0f %% of the draws",
                          s > first ? "; " : "", processors[s], at_face ? "yes" : "no", share);
    }
    const struct pleat_shape shape = {statement, where, expected, holds};
    if (holds)
        pleat_study_shape(study, &shape, "at face values, and in at least %.0f %% of the draws",
                          least);
    else
        pleat_study_shape(study, &shape, "%s", measured.text ? measured.text : "");
    pleat_string_finish(&measured);
}

/* The metric is less than in a static run, with every table and every number of processors. */
static void tell_less(struct pleat_study *study, const struct pleat_numbers *numbers,
                      size_t against, int metric, double paper, const char *statement,
                      const char *where)
{
    struct pleat_estimate least = {.mean = INFINITY}, most = {.mean = -INFINITY};
    bool holds = true;
    for (size_t s = PRODUCT_33; s <= FACTORS_36; s++) {
        struct pleat_estimate less = pleat_numbers_difference(numbers, against, s, (size_t)metric);
        holds = holds && pleat_estimate_above(less, 0);
        least = less.mean < least.mean ? less : least;
        most = less.mean > most.mean ? less : most;
    }
    pleat_study_shape(study, &(struct pleat_shape){statement, where, PLEAT_CLAIMED, holds},
                      "%s to %s s less, depending on table and processors; thesis: %.0f s",
                      pleat_estimate_text(least, 0).text, pleat_estimate_text(most, 0).text, paper);
}

/* How near the times of jobs 0 to 2 come to those of table 3. */
static void tell_times(struct pleat_study *study, const struct faces *faces)
{
    double worst = 0;
    double off_0 = faces->metrics[PRODUCT_33][TOTAL] / paper_dynamic[0] - 1;
    pleat_study_shape(study,
                      &(struct pleat_shape){"Job 0 takes 2853 s (at face values, within 5 %)",
                                            "table 3", PLEAT_FITTED, fabs(off_0) <= 0.05},
                      "%.0f s on 33 processors; the number of iterations follows from that",
                      faces->metrics[PRODUCT_33][TOTAL]);
    for (size_t s = PRODUCT_33; s <= FACTORS_36; s++)
        for (int j = 1; j < LAST; j++) {
            double off = faces->metrics[s][TOTAL + j] / paper_dynamic[j] - 1;
            worst = fmax(worst, fabs(off));
        }
    pleat_study_shape(study,
                      &(struct pleat_shape){"Jobs 1 and 2 take 2826 and 2913 s (at face values, "
                                            "within 5 %)",
                                            "table 3", PLEAT_CLAIMED, worst <= 0.05},
                      "%.0f and %.0f s as products on 33 processors; at most %.1f %% off with "
                      "either table, on 33 to 36",
                      faces->metrics[PRODUCT_33][TOTAL + 1], faces->metrics[PRODUCT_33][TOTAL + 2],
                      100 * worst);
}

static void tell_shapes(struct pleat_study *study, const struct faces *faces,
                        const struct pleat_numbers *numbers)
{
    tell_flag(study, faces, numbers, SPOT_0, PRODUCT_33, FACTORS_36,
              "Job 0 finds its sweet spot, 9, and stays there", "4.3.1, figure 9", PLEAT_FITTED);
    tell_flag(study, faces, numbers, SETTLED, PRODUCT_33, FACTORS_36,
              "Jobs 1 and 2 grow from 4 to 12 processors", "4.3.1, figure 9", PLEAT_CLAIMED);
    /* The thesis does not say what the jobs compute: products were chosen since it holds with them.
     */
    tell_flag(study, faces, numbers, MADE, PRODUCT_33, PRODUCT_36,
              "Jobs 1 and 2 shrink to 6 for job 3, job 0 keeps 9: products on 33 to 36 processors",
              "4.1, 4.3.1, figure 9", PLEAT_FITTED);
    tell_flag(
        study, faces, numbers, MADE, FACTORS_33, FACTORS_36,
        "Jobs 1 and 2 shrink to 6 for job 3, job 0 keeps 9: factorizations on 33 to 36 processors",
        "4.3.1, figure 9", PLEAT_NOT_FOUND);
    tell_flag(study, faces, numbers, MADE, IDLE_33, IDLE_36,
              "Jobs 1 and 2 shrink to 6 for job 3, job 0 keeps 9: products where idle processors "
              "count (`remap-idle`), on 33 to 36 processors",
              "4.1, 4.3.1, figure 9", PLEAT_NOT_FOUND);
    tell_flag(study, faces, numbers, BACK, PRODUCT_33, FACTORS_36,
              "After job 3 has ended, jobs 1 and 2 grow to 12 again", "4.3.1, figure 9",
              PLEAT_CLAIMED);
    tell_less(study, numbers, STATIC_6, SUM, 2298,
              "Jobs spend less time in the system than on 6 processors each", "table 3");
    tell_less(study, numbers, STATIC_6, MAKESPAN, 739,
              "All are done earlier than on 6 processors each", "table 3");
    bool close = true;
    double low = INFINITY, high = -INFINITY;
    for (size_t s = PRODUCT_33; s <= FACTORS_36; s++) {
        struct pleat_estimate ratio = pleat_numbers_ratio(numbers, s, STATIC_9, SUM);
        close = close && pleat_estimate_within(ratio, 0.95, 1.05);
        low = fmin(low, ratio.mean);
        high = fmax(high, ratio.mean);
    }
    pleat_study_shape(
        study,
        &(struct pleat_shape){"Jobs spend about the same time as on 9 processors each "
                              "(within 5 %)",
                              "table 4", PLEAT_CLAIMED, close},
        "%.3f to %.3f of it, depending on table and processors; thesis: 0.999", low, high);
    tell_less(study, numbers, STATIC_9, MAKESPAN, 460,
              "All are done earlier than on 9 processors each, where job 3 has to wait", "table 4");
    tell_times(study, faces);
    pleat_study_value(study, "sum_s.resized_33", pleat_numbers_estimate(numbers, PRODUCT_33, SUM));
    pleat_study_value(study, "sum_s.resized_36", pleat_numbers_estimate(numbers, PRODUCT_36, SUM));
    pleat_study_value(study, "sum_s.static_6", pleat_numbers_estimate(numbers, STATIC_6, SUM));
    pleat_study_value(study, "sum_s.static_9", pleat_numbers_estimate(numbers, STATIC_9, SUM));
}

/* ---- what a redistribution may cost ---- */

static int sweep_redistribution(struct pleat_study *study, struct pleat_error *err)
{
    static const double seconds[] = {0, 2, 5, 10, 20, 40, 60, 80, 120};
    enum { COUNT = sizeof(seconds) / sizeof(seconds[0]), LINES = 4 };
    static const char *const titles[LINES] = {"resized, 33 processors", "resized, 36 processors",
                                              "static 6", "static 9"};
    static const enum setting settings[LINES] = {PRODUCT_33, PRODUCT_36, STATIC_6, STATIC_9};
    double sums[LINES][COUNT];
    struct pleat_plot_series series[LINES];
    int rc = 0;
    for (size_t l = 0; !rc && l < LINES; l++) {
        for (size_t c = 0; !rc && c < COUNT; c++) {
            struct unsaid unsaid = face;
            struct resizable_job jobs[JOBS];
            struct resizable_trial trial;
            double metrics[METRICS];
            unsaid.redistribution_s = seconds[c];
            make_jobs(&unsaid, settings[l], jobs);
            rc = resizable_run(study, jobs, JOBS, processors[settings[l]], approach_of(settings[l]),
                               &trial, err);
            if (!rc) {
                measure(&trial, metrics);
                sums[l][c] = metrics[SUM];
            }
            resizable_finish(&trial);
        }
        series[l] = (struct pleat_plot_series){titles[l], seconds, sums[l], COUNT};
    }
    if (rc)
        return rc;
    size_t worse = 0;
    while (worse < COUNT && sums[0][worse] < sums[2][worse])
        worse++;
    struct pleat_plot panel = {.title = "Time in the system, all four jobs",
                               .x_label = "seconds that a change of size costs",
                               .y_label = "seconds",
                               .series = series,
                               .series_count = LINES};
    pleat_page_paragraph(
        &study->page,
        "An iteration takes 100 to 190 s. Against static 6 resizing pays %s. Static 9 has about "
        "the best sizes from the beginning: against it every second of a change is lost, and only "
        "job 3 gains, since it does not wait.",
        worse == COUNT ? "at all of these costs" : "as long as a change is cheap");
    return pleat_page_figure(&study->page, "redistribution",
                             "Job mix 1, by how long every change of size takes.", &panel, 1, 1,
                             err);
}

int resizable_mix_1(struct pleat_study *study, struct pleat_error *err)
{
    struct faces faces;
    struct pleat_numbers numbers;
    struct pleat_sweep sweep = {
        .what = "job mix 1", .settings = SETTINGS, .metrics = METRICS, .run = run_one};
    memset(&faces, 0, sizeof(faces));
    int rc = pleat_study_sweep(study, &sweep, &numbers, err);
    if (!rc)
        rc = run_face(study, &faces, err);
    if (!rc) {
        pleat_page_heading(&study->page, "Job mix 1 (figure 9, tables 3 and 4)");
        pleat_page_paragraph(
            &study->page,
            "Jobs 0, 1 and 2 start on 4 processors at 0 s; job 3 wants 12 and comes at %.0f s. The "
            "time of an iteration on 6 and on 9 processors is the total of tables 3 and 4, divided "
            "by the number of iterations. On 4 and on 12 it follows from these times and the "
            "improvements of table 1 (20.9 and 9.4 %%; job 0 has none from 9 to 12, as 9 is its "
            "sweet spot). In the thesis job 0 takes 107 s longer than on 9 processors from the "
            "beginning. Where a change of size costs nothing, that makes 25 iterations. So the "
            "times of jobs 1 and 2 are predictions. The thesis has 36 processors in 4.1, 32 in "
            "4.3.1, and 9 + 12 + 12 = 33 in use in figure 9: 33, 34, 35 and 36 are run.",
            face.submit_s);
        tell_sizes(study, &faces);
        rc = draw_sizes(study, &faces, err);
    }
    if (!rc) {
        pleat_page_paragraph(&study->page,
                             "Seconds from start to end, at face values (resized: with the steps "
                             "of a product). In table 4 job 3 starts when all others have ended; "
                             "here it starts when job 0 has, since 12 processors are free then.");
        tell_seconds(study, &faces);
        rc = draw_totals(study, &faces, err);
    }
    if (!rc) {
        pleat_page_paragraph(
            &study->page,
            "Each seed draws a number of iterations (20 to 60), what a change of size costs (0 to "
            "5 s), by how much an iteration of job 0 is longer on 12 processors than on 9 (0 to 5 "
            "%%), and by how much job 3 is submitted before 1498 s (up to 210 s). The intervals "
            "and shares of draws in the table at the top are over these draws. The steps from 4 to "
            "6 and from 9 to 12 processors are those of a product (20.9 and 9.4 %%) or of a "
            "factorization (11.3 and 12.6 %%).");
        tell_shapes(study, &faces, &numbers);
        rc = sweep_redistribution(study, err);
    }
    finish_faces(&faces);
    pleat_numbers_finish(&numbers);
    return rc;
}

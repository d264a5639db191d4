/* koala.c - what is run, and the page about it. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/koala-malleable/settings.h"
#include "experiments/koala-malleable/shapes.h"
#include "experiments/list.h"

enum { SWEEP_SEEDS = 8 };

/* The settings in which a shape is looked for that does not hold at face values, and whether it is
 * expected there. These settings were chosen after a look at the sweep, so a shape that holds there
 * is fitted. */
static const struct {
    enum koala_named where;
    bool expected;
} homes[KOALA_SHAPES] = {
    {KOALA_SCARCE, true},  {KOALA_SCARCE, true}, {KOALA_SCARCE, true}, {KOALA_SCARCE, false},
    {KOALA_SCARCE, true},  {KOALA_SCARCE, true}, {KOALA_SCARCE, true}, {KOALA_SLOW, true},
    {KOALA_SCARCE, true},  {KOALA_SCARCE, true}, {KOALA_SCARCE, true}, {KOALA_FULL, true},
    {KOALA_FULL, false},   {KOALA_SCARCE, true}, {KOALA_SCARCE, true}, {KOALA_COSTLY, true},
    {KOALA_COSTLY, false},
};

/* ---- runs ---- */

struct plan {
    bool named, quick;
};

static int run_one(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                   double *metrics, struct pleat_error *err)
{
    const struct plan *plan = context;
    size_t which = setting / RUNS / APPROACHES;
    struct koala_unsaid unsaid = plan->named ? koala_named((enum koala_named)which)->unsaid
                                             : koala_sweep_at(which, plan->quick);
    struct koala_trial trial;
    int rc = koala_run(study, (enum approach)(setting / RUNS % APPROACHES), (int)(setting % RUNS),
                       &unsaid, seed, &trial, err);
    if (!rc && koala_measure(&trial, metrics))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the results");
    koala_trial_finish(&trial);
    return rc;
}

/* ---- what is found ---- */

static void tell_shapes(struct pleat_study *study, const struct pleat_numbers *numbers)
{
    for (size_t i = 0; i < KOALA_SHAPES; i++) {
        const struct koala_shape *shape = koala_shape_at(i);
        struct pleat_string statement = {0}, measured = {0};
        bool at_face = shape->holds(numbers, KOALA_FACE);
        size_t setting = at_face ? KOALA_FACE : (size_t)homes[i].where;
        enum pleat_label expected = at_face             ? PLEAT_CLAIMED
                                    : homes[i].expected ? PLEAT_FITTED
                                                        : PLEAT_NOT_FOUND;
        shape->tell(numbers, setting, &measured);
        pleat_string_addf(&statement, "%s", shape->statement);
        if (statement.failed || measured.failed)
            study->out_of_memory = true;
        else
            pleat_study_shape(study,
                              &(struct pleat_shape){statement.text, shape->where, expected,
                                                    shape->holds(numbers, setting)},
                              "%s: %s", koala_named((enum koala_named)setting)->name,
                              measured.text);
        pleat_string_finish(&statement);
        pleat_string_finish(&measured);
    }
}

static const struct {
    const char *title, *name;
    double factor;
    int decimals;
} metrics[METRICS] = {
    [AVERAGE_SIZE] = {"average size", "average_size", 1, 2},
    [MAXIMUM_SIZE] = {"maximum size", "maximum_size", 1, 2},
    [AT_MINIMUM] = {"never grow, %", "never_grow", 100, 1},
    [EXECUTION] = {"execution, s", "execution_s", 1, 0},
    [EXECUTION_FT] = {"FT, s", "execution_ft_s", 1, 0},
    [EXECUTION_GADGET] = {"GADGET 2, s", "execution_gadget_s", 1, 0},
    [RESPONSE] = {"response, s", "response_s", 1, 0},
    [WAIT] = {NULL, "wait_s", 1, 0},
    [BELOW_200] = {NULL, "below_200_s", 100, 0},
    [ABOVE_400] = {NULL, "above_400_s", 100, 0},
    [UTILIZATION] = {"utilization, %", "utilization", 100, 1},
    [USED] = {NULL, "used", 100, 1},
    [GROWS] = {"grows", "grows", 1, 0},
    [SHRINKS] = {"shrinks", "shrinks", 1, 0},
};

static struct pleat_estimate in_its_unit(const struct pleat_numbers *numbers, size_t at, size_t m)
{
    struct pleat_estimate estimate = pleat_numbers_estimate(numbers, at, m);
    estimate.mean *= metrics[m].factor;
    estimate.half *= metrics[m].factor;
    return estimate;
}

static void add_runs(struct pleat_study *study, const struct pleat_numbers *numbers,
                     enum koala_named setting)
{
    struct pleat_string titles = {0};
    pleat_string_add(&titles, "run");
    for (int m = 0; m < METRICS; m++)
        if (metrics[m].title)
            pleat_string_addf(&titles, "|%s", metrics[m].title);
    pleat_page_table(&study->page, titles.text ? titles.text : "");
    study->out_of_memory |= titles.failed != 0;
    pleat_string_finish(&titles);
    for (int a = 0; a < APPROACHES; a++)
        for (int run = 0; run < RUNS; run++) {
            pleat_page_cell(&study->page, "%s %s", a == PRA ? "PRA" : "PWA",
                            koala_run_name(run, (enum approach)a));
            for (size_t m = 0; m < METRICS; m++)
                if (metrics[m].title)
                    pleat_page_cell_estimate(
                        &study->page,
                        in_its_unit(numbers, koala_at((size_t)setting, (enum approach)a, run), m),
                        metrics[m].decimals);
        }
}

static void add_values(struct pleat_study *study, const struct pleat_numbers *numbers)
{
    static const char *const runs[RUNS] = {"egs_wm", "egs_wmr", "fpsma_wm", "fpsma_wmr"};
    for (int s = 0; s < KOALA_NAMED; s++)
        for (int a = 0; a < APPROACHES; a++)
            for (int run = 0; run < RUNS; run++)
                for (size_t m = 0; m < METRICS; m++) {
                    char name[120];
                    snprintf(name, sizeof(name), "%s.%s.%s.%s",
                             s ? koala_named((enum koala_named)s)->name : "face",
                             a == PRA ? "pra" : "pwa", runs[run], metrics[m].name);
                    pleat_study_value(study, name,
                                      pleat_numbers_estimate(
                                          numbers, koala_at((size_t)s, (enum approach)a, run), m));
                }
}

/* ---- the paper's numbers ---- */

/* A metric under EGS and under FPSMA, with all jobs malleable. */
static void add_pair(struct pleat_page *page, const struct pleat_numbers *numbers, size_t setting,
                     enum approach approach, size_t metric)
{
    pleat_page_cell(
        page, "%.0f, %.0f",
        pleat_numbers_estimate(numbers, koala_at(setting, approach, EGS_WM), metric).mean,
        pleat_numbers_estimate(numbers, koala_at(setting, approach, FPSMA_WM), metric).mean);
}

static void add_paper(struct pleat_study *study, const struct pleat_numbers *numbers)
{
    static const struct {
        const char *what, *paper;
        enum approach approach;
        size_t metric;
    } rows[] = {{"execution time of FT under PRA, s", "below 200", PRA, EXECUTION_FT},
                {"execution time of GADGET 2 under PRA, s", "above 400", PRA, EXECUTION_GADGET},
                {"execution time of FT under PWA, s", "below 200", PWA, EXECUTION_FT},
                {"execution time of GADGET 2 under PWA, s", "600 for most", PWA, EXECUTION_GADGET}};
    struct pleat_string titles = {0};
    pleat_page_heading(&study->page, "The paper's numbers beside these");
    pleat_page_paragraph(&study->page,
                         "Its figures' curves are lost; VII states few numbers. Here: "
                         "means with EGS and with FPSMA, all jobs malleable.");
    pleat_string_add(&titles, "|the paper");
    for (int s = 0; s < KOALA_NAMED; s++)
        pleat_string_addf(&titles, "|%s", koala_named((enum koala_named)s)->name);
    pleat_page_table(&study->page, titles.text ? titles.text : "");
    study->out_of_memory |= titles.failed != 0;
    pleat_string_finish(&titles);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pleat_page_cell(&study->page, "%s", rows[i].what);
        pleat_page_cell(&study->page, "%s", rows[i].paper);
        for (size_t s = 0; s < KOALA_NAMED; s++)
            add_pair(&study->page, numbers, s, rows[i].approach, rows[i].metric);
    }
}

/* ---- where each shape holds ---- */

static void add_named(struct pleat_study *study, const struct pleat_numbers *numbers,
                      const size_t *counts, size_t settings)
{
    struct pleat_string titles = {0};
    pleat_string_add(&titles, "|<the paper states");
    for (int s = 0; s < KOALA_NAMED; s++)
        pleat_string_addf(&titles, "|<%s", koala_named((enum koala_named)s)->name);
    pleat_string_addf(&titles, "|of all %zu settings", settings);
    pleat_page_table(&study->page, titles.text ? titles.text : "");
    study->out_of_memory |= titles.failed != 0;
    pleat_string_finish(&titles);
    for (size_t i = 0; i < KOALA_SHAPES; i++) {
        pleat_page_cell(&study->page, "%zu", i + 1);
        pleat_page_cell(&study->page, "%s", koala_shape_at(i)->statement);
        for (size_t s = 0; s < KOALA_NAMED; s++)
            pleat_page_cell(&study->page, "%s",
                            koala_shape_at(i)->holds(numbers, s) ? "yes" : "no");
        pleat_page_cell(&study->page, "%.1f %%", (double)counts[i] * 100 / (double)settings);
    }
}

/* Adds, for each level of a dimension, the percentage of the settings with that level in which a
 * shape holds. */
static void add_levels(struct pleat_study *study, const bool *holds, size_t settings, size_t shape,
                       size_t dimension)
{
    struct pleat_string text = {0};
    size_t levels = koala_dimension_levels(dimension, study->quick);
    for (size_t level = 0; level < levels; level++) {
        size_t count = 0, all = 0;
        for (size_t s = 0; s < settings; s++)
            if (koala_sweep_level(s, dimension, study->quick) == level) {
                all++;
                count += holds[s * KOALA_SHAPES + shape];
            }
        pleat_string_addf(&text, "%s%.0f", level ? " / " : "", (double)count * 100 / (double)all);
    }
    pleat_page_cell(&study->page, "%s", text.text ? text.text : "");
    study->out_of_memory |= text.failed != 0;
    pleat_string_finish(&text);
}

static void add_dimensions(struct pleat_study *study, const bool *holds, size_t settings)
{
    struct pleat_string titles = {0};
    for (size_t d = 0; koala_dimension_at(d); d++)
        pleat_string_addf(&titles, "|<%s", koala_dimension_at(d)->name);
    pleat_page_table(&study->page, titles.text ? titles.text : "");
    study->out_of_memory |= titles.failed != 0;
    pleat_string_finish(&titles);
    for (size_t i = 0; i < KOALA_SHAPES; i++) {
        pleat_page_cell(&study->page, "%zu", i + 1);
        for (size_t d = 0; koala_dimension_at(d); d++)
            add_levels(study, holds, settings, i, d);
    }
}

static int add_sweep(struct pleat_study *study, const struct pleat_numbers *named,
                     struct pleat_error *err)
{
    struct plan plan = {false, study->quick};
    size_t settings = koala_sweep_count(study->quick), counts[KOALA_SHAPES] = {0};
    struct pleat_numbers numbers;
    struct pleat_sweep sweep = {.what = "what is left unsaid",
                                .settings = settings * RUNS * APPROACHES,
                                .metrics = METRICS,
                                .seeds = SWEEP_SEEDS,
                                .run = run_one,
                                .context = &plan};
    bool *holds = calloc(settings * KOALA_SHAPES, sizeof(*holds));
    if (!holds)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the results");
    int rc = pleat_study_sweep(study, &sweep, &numbers, err);
    for (size_t s = 0; !rc && s < settings; s++)
        for (size_t i = 0; i < KOALA_SHAPES; i++)
            counts[i] += holds[s * KOALA_SHAPES + i] = koala_shape_at(i)->holds(&numbers, s);
    if (!rc) {
        pleat_page_heading(&study->page, "Where each of them holds");
        pleat_page_paragraph(
            &study->page,
            "In the settings with a name (%zu seeds), and in how many of all combinations of the "
            "levels in the second table (%zu seeds). That one has, of the settings with each "
            "level, "
            "the percentage in which the shape of that number holds; the first level is the face "
            "value.",
            named->seeds, numbers.seeds);
        add_named(study, named, counts, settings);
        add_dimensions(study, holds, settings);
    }
    pleat_numbers_finish(&numbers);
    free(holds);
    return rc;
}

/* ---- the page ---- */

static void add_beginning(struct pleat_study *study)
{
    struct pleat_page *page = &study->page;
    pleat_page_heading(page, "The paper, and what it leaves unsaid");
    pleat_page_paragraph(
        page,
        "300 jobs, half of them NAS FT (2 minutes on two processors, 1 at best, powers of two up "
        "to 32), half GADGET 2 (10 minutes, 4 at best, any size up to 46), start with two "
        "processors on the five clusters of DAS-3 (85, 41, 68, 46, 32 nodes). In Wm and W'm all "
        "are malleable, in Wmr and W'mr half are rigid jobs of two. Every 120 s a job under PRA, "
        "every 30 s under PWA. Worst-fit places them; FPSMA and EGS are compared.");
    pleat_page_paragraph(
        page,
        "Unsaid are: how long it takes to get processors (KOALA got each by a GRAM job of its "
        "own), how long a change of size stops the application, how many processors others used, "
        "the threshold above which KOALA did not expand its jobs, how figure 6 goes between its "
        "ends, whether EGS divides again what jobs do not take. `egs` does, `egs-once` does not. "
        "As "
        "figure 5 prints it, EGS also takes a processor more from the jobs behind the remainder, "
        "and asks all of them though enough is reclaimed (`egs-printed`). Settings of these have "
        "a name here:");
    for (int s = 0; s < KOALA_NAMED; s++)
        pleat_page_item(page, "*%s*: %s.", koala_named((enum koala_named)s)->name,
                        koala_named((enum koala_named)s)->about);
}

static void add_reasons(struct pleat_study *study)
{
    struct pleat_page *page = &study->page;
    pleat_page_heading(page, "What it comes from");
    pleat_page_item(
        page, "At face values one or two jobs run at a time under PRA, and worst-fit gives each "
              "a cluster of its own. Policies act on one cluster, so FPSMA and EGS decide the "
              "same. At 30 s between arrivals, jobs at their minimal size need 24 of 272 "
              "processors: nothing waits, and hardly anything is shrunk.");
    pleat_page_item(
        page, "A limit to what the jobs of a cluster are grown to, as the threshold of V-B may be "
              "read, brings them together: the largest cluster keeps the most idle processors, so "
              "worst-fit sends it one job after another, and they compete for few. Then most of "
              "section VII comes out, also its times of GADGET 2 (above 400 s under PRA, almost "
              "600 s under PWA). What is small is the size itself: with 8 processors to grow to, "
              "the average stays below 5.");
    pleat_page_item(
        page, "Average and maximum size are larger under EGS because short jobs get a share "
              "before the older ones have ended. In Wmr, where fewer jobs compete, the maximum is "
              "not.");
    pleat_page_item(
        page, "That EGS leaves more jobs at their minimal size than FPSMA does is found only "
              "with EGS as printed, where nearly nothing is free: shares get smaller than what "
              "FT, which takes powers of two, could accept, and nobody else gets them. Where the "
              "rest is divided again, FPSMA leaves as many of them there, or more.");
    pleat_page_item(
        page,
        "The response times of EGS with W'm are the worst where a change of size is "
        "expensive: EGS makes the most changes. That they are worse by half or more, as \"far "
        "worse\" is read here, is not found (17 below): a job that holds more processors needs "
        "more "
        "processor-seconds, so growing cannot lower the load, which VII-B gives as the "
        "reason for FPSMA's advantage; under PWA a waiting job gets processors from running "
        "ones before it waits long.");
    pleat_page_item(
        page, "Two clear groups of execution times come from slow changes, *slow*; else GADGET 2 "
              "needs less than 400 s as soon as it gets the processors that PRA has for it.");
}

static int add_figures(struct pleat_study *study, enum koala_named setting, struct pleat_error *err)
{
    const struct koala_setting *named = koala_named(setting);
    char name[40], caption[160];
    int rc = 0;
    for (int a = 0; a < APPROACHES && !rc; a++) {
        snprintf(name, sizeof(name), "figure-%d-%s", a == PRA ? 7 : 8,
                 setting == KOALA_FACE ? "face" : named->name);
        snprintf(caption, sizeof(caption),
                 "Figure %d, %s: means over the seeds, with 95 %% intervals", a == PRA ? 7 : 8,
                 named->name);
        rc = koala_figure(study, (enum approach)a, &named->unsaid, name, caption, err);
    }
    return rc;
}

static int run(struct pleat_study *study, struct pleat_error *err)
{
    struct plan plan = {true, study->quick};
    struct pleat_numbers numbers;
    struct pleat_sweep sweep = {.what = "named settings",
                                .settings = (size_t)KOALA_NAMED * RUNS * APPROACHES,
                                .metrics = METRICS,
                                .run = run_one,
                                .context = &plan};
    int rc = pleat_study_sweep(study, &sweep, &numbers, err);
    if (!rc) {
        tell_shapes(study, &numbers);
        add_values(study, &numbers);
        add_beginning(study);
        add_reasons(study);
        add_paper(study, &numbers);
        rc = add_sweep(study, &numbers, err);
    }
    for (int s = 0; s < KOALA_NAMED && !rc; s++) {
        char title[80];
        snprintf(title, sizeof(title), "Setting: %s", koala_named((enum koala_named)s)->name);
        pleat_page_heading(&study->page, title);
        add_runs(study, &numbers, (enum koala_named)s);
        if (s == KOALA_FACE || s == KOALA_SCARCE)
            rc = add_figures(study, (enum koala_named)s, err);
    }
    pleat_numbers_finish(&numbers);
    return rc;
}

const struct pleat_experiment pleat_experiment_koala_malleable = {
    .name = "koala-malleable",
    .title = "Malleable jobs on five clusters",
    .source = "Buisson et al. 2007, V to VII",
    .summary = "FPSMA and EGS under PRA and PWA: 300 jobs of two applications on five clusters",
    .seeds = 40,
    .run = run,
};

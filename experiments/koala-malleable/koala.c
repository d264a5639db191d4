/* koala.c - what is run, and the page about it. */
#include <stdio.h>

#include "experiments/koala-malleable/egs.h"
#include "experiments/koala-malleable/measured.h"
#include "experiments/list.h"

/* For each shape that does not hold at face values: is it expected to hold in its best reading? */
static const bool expected[KOALA_SHAPES] = {
    true,  true, true, true, true,  true, true, true, true, true, true, false,
    false, true, true, true, false, true, true, true, true, true, true, false,
};

static int run_named(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                     double *metrics, struct pleat_error *err)
{
    (void)context;
    return koala_run_one(study, setting, seed,
                         &koala_named((enum koala_named)(setting / RUNS / APPROACHES))->unsaid,
                         metrics, err);
}

/* ---- what is found ---- */

/* A shape that holds at face values is claimed. It is fitted if it holds in a credible setting of
 * the sweep, run with seeds that had no part in choosing that setting. */
static void tell_shape(struct pleat_study *study, const struct pleat_numbers *named,
                       const struct koala_sweep *sweep, size_t i)
{
    const struct koala_shape *shape = koala_shape_at(i);
    struct pleat_string measured = {0};
    bool at_face = shape->holds(named, KOALA_FACE), holds = at_face;
    if (at_face || sweep->best[i] == SIZE_MAX) {
        pleat_string_add(&measured, "face values: ");
        shape->tell(named, KOALA_FACE, &measured);
    } else {
        bool credible = koala_sweep_credible(sweep->best[i]);
        holds = credible && koala_sweep_confirms(sweep, i);
        pleat_string_addf(&measured, "best reading, %c%s: ", koala_sweep_letter(sweep, i),
                          credible ? "" : ", which is not credible");
        shape->tell(&sweep->confirmed, i, &measured);
    }
    enum pleat_label label = at_face                ? PLEAT_CLAIMED
                             : expected[i] || holds ? PLEAT_FITTED
                                                    : PLEAT_NOT_FOUND;
    if (measured.failed)
        study->out_of_memory = true;
    else
        pleat_study_shape(study,
                          &(struct pleat_shape){shape->statement, shape->where, label, holds}, "%s",
                          measured.text);
    pleat_string_finish(&measured);
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
    [ANSWERED_BELOW_200] = {NULL, "response_below_200_s", 100, 0},
    [ANSWERED_ABOVE_400] = {NULL, "response_above_400_s", 100, 0},
    [UTILIZATION] = {"utilization, %", "utilization", 100, 1},
    [USED] = {NULL, "used", 100, 1},
    [GROWS] = {"grows", "grows", 1, 0},
    [SHRINKS] = {"shrinks", "shrinks", 1, 0},
    [EARLY_CHANGES] = {NULL, "early_changes", 1, 2},
    [LATE_CHANGES] = {NULL, "late_changes", 1, 2},
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
                         "The curves of the paper's figures are not in the copy that was used "
                         "here, and section VII states few numbers. Beside those numbers stand "
                         "means under EGS and under FPSMA, with all jobs malleable.");
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

/* ---- the page ---- */

static void add_beginning(struct pleat_study *study)
{
    struct pleat_page *page = &study->page;
    pleat_page_heading(page, "The paper, and what it leaves unsaid");
    pleat_page_paragraph(
        page, "300 jobs, half of them NAS FT (2 minutes on two processors, 1 at best, powers of "
              "two up to 32), half GADGET 2 (10 minutes, 4 at best, any size up to 46), start with "
              "two processors on the five clusters of DAS-3 (85, 41, 68, 46, 32 nodes). In Wm and "
              "W'm all are malleable, in Wmr and W'mr half are rigid jobs of two processors. A job "
              "arrives every 120 s under PRA, every 30 s under PWA. Worst-fit places the jobs; "
              "FPSMA and EGS are compared.");
    pleat_page_paragraph(
        page,
        "The paper does not say: how long it takes to get processors (KOALA got each by a "
        "GRAM job of its own), and to give them back, how long a change of size stops the "
        "application, how many processors others used, how many of the clusters jobs ran on, "
        "how often KOALA polled, the threshold above which KOALA did not expand its jobs, "
        "how figure 6 goes between its ends, whether EGS divides again what jobs do not "
        "take. The policy `egs` divides it again. `egs-once` leaves it until the next pass, "
        "which offers it in the same way, by shares of what is left. A change of size that is "
        "done brings a pass: in the same instant where that takes no time. As figure 5 prints "
        "it, EGS also takes one processor more from the jobs behind the remainder, and asks "
        "all jobs even after enough has been reclaimed (`egs-printed`). Five settings of "
        "what is unsaid have a name on this page:");
    for (int s = 0; s < KOALA_NAMED; s++)
        pleat_page_item(page, "*%s*: %s.", koala_named((enum koala_named)s)->name,
                        koala_named((enum koala_named)s)->about);
}

static void add_reasons(struct pleat_study *study)
{
    struct pleat_page *page = &study->page;
    pleat_page_heading(page, "What it comes from");
    pleat_page_item(
        page,
        "At face values one or two jobs run at a time under PRA, and worst-fit gives each a "
        "cluster of its own. FPSMA and EGS divide the processors of one cluster among its jobs, so "
        "they decide the same there. At 30 s between arrivals, jobs at their minimal size need 24 "
        "of 272 processors: nothing waits, and hardly anything is shrunk.");
    pleat_page_item(
        page,
        "The threshold of V-B may be read as a limit to how many processors the jobs of a cluster "
        "are grown to. Such a limit brings jobs together (*scarce*): the largest cluster keeps the "
        "most idle processors, so worst-fit sends it one job after another, and these compete for "
        "few processors. Then much of section VII is found, also its times of GADGET 2 (above 400 "
        "s under PRA, almost 600 s under PWA). But jobs stay small: where those of a cluster are "
        "grown to 8 processors together, their average size is below 5.");
    pleat_page_item(
        page,
        "With jobs of credible sizes nearly all of VII-A is found at once (reading A below) under "
        "these conditions: jobs are grown up to a number of processors in all clusters together, "
        "changes of size and giving back take a minute, and each processor is got by a claim of "
        "its own, one after another, as KOALA did by GRAM jobs of size 1 (V-A). Getting forty "
        "processors then takes minutes, in which other jobs arrive: under EGS each of them gets a "
        "share, under FPSMA the oldest one has been promised everything. The claim for each "
        "processor matters most. Sizes differ little between EGS and FPSMA there. They differ more "
        "where only one cluster is in use (reading C), in which fewer of the other shapes hold. "
        "Which reading comes out as the best depends on which shapes are counted: without shapes "
        "18 to 24 of the tables below, which were added later, it was C. Response times that are "
        "the worst for EGS with W'm (VII-B) need changes of size that cost a minute. How often "
        "KOALA decides, whether room is made bit by bit, and whether other jobs grow meanwhile, "
        "hardly matter.");
    pleat_page_item(
        page, "That EGS leaves more jobs at their minimal size than FPSMA does is found in 1 to 2 "
              "%% of all settings, and in none that is credible. In nearly all of these EGS "
              "divides once in a pass. So the share of a job gets smaller than what FT can accept, "
              "which takes powers of two. What it leaves is offered again when a change of size is "
              "done, and again in shares.");
    pleat_page_item(
        page, "The response times of EGS with W'm are the worst where a change of size is "
              "expensive, since EGS makes the most changes. That they are worse by half or more, "
              "as \"far worse\" is read here, holds in no setting with its interval; it comes near "
              "only where a change of size stops an application for five minutes (table below). "
              "VII-B gives a lower load as the reason for FPSMA's advantage. But a job that holds "
              "more processors needs more processor-seconds, so growing cannot lower the load; and "
              "under PWA a waiting job gets processors from running ones before it waits long.");
    pleat_page_item(
        page,
        "Two clear groups of execution times are found where changes of size are slow. Elsewhere "
        "GADGET 2 needs less than 400 s as soon as it gets the processors that PRA has for it.");
    pleat_page_item(
        page,
        "That the system is overloaded with W'm (figure 8e) is found where local users have "
        "three quarters of the processors or more, and sometimes where they have half (reading "
        "G). That sizes hardly change any more after some time (figure 8f) is found in no "
        "setting: nothing in the model changes over time but the queue, so jobs grow and "
        "shrink late as often as early.");
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

static int write(struct pleat_study *study, const struct pleat_numbers *named,
                 const struct koala_sweep *sweep, const struct pleat_numbers *nearby,
                 const struct pleat_numbers *egs, const struct pleat_numbers *measured,
                 struct pleat_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < KOALA_SHAPES; i++)
        tell_shape(study, named, sweep, i);
    add_values(study, named);
    add_beginning(study);
    add_reasons(study);
    add_paper(study, named);
    koala_sweep_write(study, sweep, named);
    koala_nearby_write(study, nearby, sweep);
    koala_egs_write(study, egs);
    koala_measured_write(study, named, sweep, measured);
    for (int s = 0; s < KOALA_NAMED && !rc; s++) {
        char title[80];
        snprintf(title, sizeof(title), "Setting: %s", koala_named((enum koala_named)s)->name);
        pleat_page_heading(&study->page, title);
        add_runs(study, named, (enum koala_named)s);
        if (s == KOALA_FACE || s == KOALA_SCARCE)
            rc = add_figures(study, (enum koala_named)s, err);
    }
    return rc;
}

static int run(struct pleat_study *study, struct pleat_error *err)
{
    struct koala_sweep sweep = {0};
    struct pleat_numbers named, nearby = {0}, egs = {0}, measured = {0};
    struct pleat_sweep runs = {.what = "named settings",
                               .settings = (size_t)KOALA_NAMED * RUNS * APPROACHES,
                               .metrics = METRICS,
                               .run = run_named};
    int rc = pleat_study_sweep(study, &runs, &named, err);
    if (!rc)
        rc = koala_sweep_run(study, &sweep, err);
    if (!rc)
        rc = koala_nearby_run(study, &sweep, &nearby, err);
    if (!rc)
        rc = koala_egs_run(study, &egs, err);
    if (!rc)
        rc = koala_measured_run(study, &sweep, &measured, err);
    if (!rc)
        rc = write(study, &named, &sweep, &nearby, &egs, &measured, err);
    pleat_numbers_finish(&measured);
    pleat_numbers_finish(&egs);
    pleat_numbers_finish(&nearby);
    koala_sweep_finish(&sweep);
    pleat_numbers_finish(&named);
    return rc;
}

static const char *const cautions[] = {
    "Which of the settings the paper had. Its experiments were 4 runs each on machines with other "
    "users; a shape that is fitted was looked for in all settings of the sweep.",
    "That percentages of settings are probabilities: the levels are ours, and so is what counts as "
    "credible.",
    "That EGS or FPSMA is the better policy elsewhere: there are two applications, whose run times "
    "between the ends of figure 6 are assumed.",
    NULL,
};

const struct pleat_experiment pleat_experiment_koala_malleable = {
    .name = "koala-malleable",
    .title = "Malleable jobs on five clusters",
    .source = "Buisson et al. 2007, V to VII",
    .cautions = cautions,
    .summary = "FPSMA and EGS under PRA and PWA: 300 jobs of two applications on five clusters",
    .seeds = 40,
    .run = run,
};

/* measured.c - the named settings, and the best reading, with run times by the curves of figure 6
 * that were measured here (page application-scaling), instead of by the assumed ones. */
#include "experiments/koala-malleable/measured.h"

#include <math.h>

enum { POINTS = 8 };

/* Of docs/experiments/application-scaling: Open MPI, pretended, medians of the time over that on 2
 * processors. A test compares them. */
static const struct koala_point curves[KOALA_APPS][POINTS] = {
    [KOALA_FT] = {{2, 1}, {4, 0.51}, {8, 0.27}, {16, 0.15}},
    [KOALA_GADGET] = {{2, 1}, {3, 0.72}, {4, 0.54}, {6, 0.42}, {8, 0.36}, {12, 0.29}, {16, 0.27}},
};

static double best_of(enum koala_app app)
{
    double best = 1;
    for (size_t i = 0; i < POINTS && curves[app][i].processors; i++)
        best = fmin(best, curves[app][i].over_two);
    return best;
}

bool koala_measured(enum koala_app app, size_t i, struct koala_point *point)
{
    double end = koala_ends[app].best_s / koala_ends[app].two_s, best = best_of(app);
    if (i == POINTS || !curves[app][i].processors)
        return false;
    *point = curves[app][i];
    point->over_two = end + (1 - end) * (point->over_two - best) / (1 - best);
    return true;
}

static int run_one(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                   double *metrics, struct pleat_error *err)
{
    const struct koala_sweep *sweep = context;
    size_t which = setting / RUNS / APPROACHES;
    bool is_named = which < KOALA_NAMED;
    struct koala_unsaid unsaid = is_named ? koala_named((enum koala_named)which)->unsaid
                                          : koala_sweep_at(sweep->best[KOALA_SHAPES]);
    unsaid.measured = true;
    seed += is_named ? 0 : KOALA_OTHER_SEEDS;
    return koala_run_one(study, setting, seed, &unsaid, metrics, err);
}

int koala_measured_run(struct pleat_study *study, const struct koala_sweep *sweep,
                       struct pleat_numbers *numbers, struct pleat_error *err)
{
    struct pleat_sweep runs = {.what = "with measured curves",
                               .settings = (size_t)(KOALA_NAMED + 1) * RUNS * APPROACHES,
                               .metrics = METRICS,
                               .run = run_one,
                               .context = (void *)sweep};
    return pleat_study_sweep(study, &runs, numbers, err);
}

/* ---- the page ---- */

static void write_curves(struct pleat_page *page)
{
    struct koala_point point;
    pleat_page_table(page, "time over that on 2 processors|processors|measured|stretched|assumed");
    for (enum koala_app app = KOALA_FT; app < KOALA_APPS; app++)
        for (size_t i = 0; koala_measured(app, i, &point); i++) {
            pleat_page_cell(page, "%s", app == KOALA_FT ? "FT" : "GADGET 2");
            pleat_page_cell(page, "%d", point.processors);
            pleat_page_cell(page, "%.2f", curves[app][i].over_two);
            pleat_page_cell(page, "%.2f", point.over_two);
            pleat_page_cell(page, "%.2f", koala_assumed(app, point.processors, false));
        }
}

/* How many of the shapes hold; those that do not hold with the others go to *only. */
static size_t count_shapes(const struct pleat_numbers *numbers, size_t setting,
                           const struct pleat_numbers *others, size_t other,
                           struct pleat_string *only)
{
    size_t held = 0;
    for (size_t i = 0; i < KOALA_SHAPES; i++) {
        bool holds = koala_shape_at(i)->holds(numbers, setting);
        held += holds;
        if (holds && !koala_shape_at(i)->holds(others, other))
            pleat_string_addf(only, "%s%zu", only->length > 0 ? ", " : "", i + 1);
    }
    return held;
}

static void write_shapes(struct pleat_study *study, const struct pleat_numbers *named,
                         const struct koala_sweep *sweep, const struct pleat_numbers *measured)
{
    struct pleat_page *page = &study->page;
    pleat_page_table(page, "setting|shapes that hold, assumed|measured|<only with the assumed one|"
                           "<only with the measured one");
    for (size_t s = 0; s <= KOALA_NAMED; s++) {
        const struct pleat_numbers *assumed = s < KOALA_NAMED ? named : &sweep->confirmed;
        size_t at = s < KOALA_NAMED ? s : KOALA_SHAPES;
        struct pleat_string lost = {0}, won = {0};
        size_t before = count_shapes(assumed, at, measured, s, &lost);
        size_t now = count_shapes(measured, s, assumed, at, &won);
        if (s < KOALA_NAMED)
            pleat_page_cell(page, "%s", koala_named((enum koala_named)s)->name);
        else
            pleat_page_cell(page, "reading %c", koala_sweep_letter(sweep, KOALA_SHAPES));
        pleat_page_cell(page, "%zu", before);
        pleat_page_cell(page, "%zu", now);
        pleat_page_cell(page, "%s", lost.length > 0 ? lost.text : "-");
        pleat_page_cell(page, "%s", won.length > 0 ? won.text : "-");
        study->out_of_memory |= lost.failed || won.failed;
        pleat_string_finish(&lost);
        pleat_string_finish(&won);
    }
}

/* Mean times at face values, with the assumed and with the measured curves. */
static void write_times(struct pleat_page *page, const struct pleat_numbers *named,
                        const struct pleat_numbers *measured)
{
    static const size_t columns[] = {EXECUTION_FT, EXECUTION_GADGET, RESPONSE};
    pleat_page_table(page, "run, face values|FT, s: assumed|measured|GADGET 2, s: assumed|measured|"
                           "response, s: assumed|measured");
    for (int a = 0; a < APPROACHES; a++)
        for (int run = 0; run < RUNS; run++) {
            size_t at = koala_at(KOALA_FACE, (enum approach)a, run);
            pleat_page_cell(page, "%s %s", a == PRA ? "PRA" : "PWA",
                            koala_run_name(run, (enum approach)a));
            for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
                pleat_page_cell_estimate(page, pleat_numbers_estimate(named, at, columns[c]), 0);
                pleat_page_cell_estimate(page, pleat_numbers_estimate(measured, at, columns[c]), 0);
            }
        }
}

void koala_measured_write(struct pleat_study *study, const struct pleat_numbers *named,
                          const struct koala_sweep *sweep, const struct pleat_numbers *measured)
{
    struct pleat_page *page = &study->page;
    pleat_page_heading(page, "With figure 6 as it was measured here");
    pleat_page_paragraph(
        page,
        "All else on this page assumes how figure 6 goes between its ends. On the page "
        "[application-scaling](../application-scaling/page.md) two programs of the classes of FT "
        "and GADGET 2 were measured at up to 16 ranks, with most of their computing pretended. How "
        "much is pretended decides how fast a program is at best. That does not matter here, since "
        "the best times are known from the paper. So the named settings, and the reading in which "
        "most shapes hold, are run again with the measured curves (Open MPI, medians), stretched "
        "so that they begin and end with the paper's times. Above 16 processors, which were not "
        "measured, the time stays that on 16. Up to there neither program becomes slower with more "
        "processors. No label rests on these curves.");
    write_curves(page);
    write_shapes(study, named, sweep, measured);
    write_times(page, named, measured);
}

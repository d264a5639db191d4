/* egs.c - egs, egs-once and egs-printed in the named settings, with all jobs malleable. */
#include "experiments/koala-malleable/egs.h"

static size_t place_of(size_t named, size_t egs, enum approach approach)
{
    return (named * KOALA_EGS + egs) * APPROACHES + approach;
}

static int run_one(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                   double *metrics, struct pleat_error *err)
{
    enum approach approach = (enum approach)(setting % APPROACHES);
    size_t egs = setting / APPROACHES % KOALA_EGS, named = setting / APPROACHES / KOALA_EGS;
    struct koala_unsaid unsaid = koala_named((enum koala_named)named)->unsaid;
    (void)context;
    unsaid.egs = (enum koala_egs)egs;
    return koala_run_one(study, koala_at(0, approach, EGS_WM), seed, &unsaid, metrics, err);
}

int koala_egs_run(struct pleat_study *study, struct pleat_numbers *numbers, struct pleat_error *err)
{
    struct pleat_sweep runs = {.what = "readings of EGS",
                               .settings = (size_t)KOALA_NAMED * KOALA_EGS * APPROACHES,
                               .metrics = METRICS,
                               .run = run_one};
    return pleat_study_sweep(study, &runs, numbers, err);
}

/* ---- the page ---- */

static void write_row(struct pleat_page *page, const struct pleat_numbers *numbers, size_t named,
                      enum approach approach)
{
    size_t egs = place_of(named, KOALA_EGS_AGAIN, approach);
    pleat_page_cell(page, "%s", koala_named((enum koala_named)named)->name);
    pleat_page_cell(page, "%s %s", approach == PRA ? "PRA" : "PWA",
                    koala_run_name(EGS_WM, approach));
    for (size_t r = 0; r < KOALA_EGS; r++)
        pleat_page_cell_estimate(
            page, pleat_numbers_estimate(numbers, place_of(named, r, approach), AVERAGE_SIZE), 2);
    pleat_page_cell_estimate(page, pleat_numbers_estimate(numbers, egs, RESPONSE), 0);
    for (size_t r = KOALA_EGS_ONCE; r < KOALA_EGS; r++)
        pleat_page_cell(
            page, "%s",
            pleat_estimate_text_plus(
                pleat_numbers_difference(numbers, place_of(named, r, approach), egs, RESPONSE), 0)
                .text);
    for (size_t r = 0; r < KOALA_EGS; r++)
        pleat_page_cell_estimate(
            page, pleat_numbers_estimate(numbers, place_of(named, r, approach), SHRINKS), 0);
}

void koala_egs_write(struct pleat_study *study, const struct pleat_numbers *numbers)
{
    struct pleat_page *page = &study->page;
    pleat_page_heading(page, "Three readings of EGS");
    pleat_page_paragraph(
        page,
        "The named settings with all jobs malleable, under each reading of EGS (%zu seeds): "
        "average "
        "size, response, and how often a job shrinks. Differences from `egs` are taken seed by "
        "seed. `egs-printed` differs from `egs-once` only where jobs shrink, which they do not "
        "under PRA.",
        numbers->seeds);
    pleat_page_table(page, "setting|<run|size: egs|egs-once|egs-printed|response, s: egs|egs-once "
                           "less that|egs-printed less that|shrinks: egs|egs-once|egs-printed");
    for (size_t named = 0; named < KOALA_NAMED; named++)
        for (int approach = 0; approach < APPROACHES; approach++)
            write_row(page, numbers, named, (enum approach)approach);
    pleat_page_paragraph(
        page,
        "So it hardly matters how EGS is read where jobs only grow: what a round leaves is handed "
        "out in later ones. It matters where jobs have to shrink (*costly* and *full*, PWA). One "
        "round often gets less than a waiting job needs, and then nobody shrinks for it: there are "
        "fewer shrinks, and longer responses.");
}

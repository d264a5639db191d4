/* nearby.c - near the setting in which most shapes hold: which of its values they need; and how
 * much worse EGS is with W'm where changes of size are longer and longer. */
#include "experiments/koala-malleable/sweep.h"

#include <math.h>

enum { DIMENSIONS_MOST = 16, STOPS = 6 };

/* For how many seconds a change of size stops an application. */
static const double stops[STOPS] = {20, 60, 120, 180, 240, 300};

/* Settings in which the stops are tried; see stop_at. */
enum { PLACES = 3, NEARBY = DIMENSIONS_MOST + PLACES * STOPS };

static struct koala_unsaid stop_at(const struct koala_sweep *sweep, size_t place, size_t stop)
{
    struct koala_unsaid unsaid = place == 0   ? koala_named(KOALA_COSTLY)->unsaid
                                 : place == 1 ? koala_sweep_at(sweep->best[KOALA_SHAPES])
                                              : koala_sweep_at(sweep->farthest);
    unsaid.resize_s = stops[stop];
    return unsaid;
}

static int run_one(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                   double *metrics, struct pleat_error *err)
{
    const struct koala_sweep *sweep = context;
    size_t which = setting / RUNS / APPROACHES, best = sweep->best[KOALA_SHAPES];
    if (which < DIMENSIONS_MOST &&
        (!koala_dimension_at(which) || koala_sweep_level(best, which) == 0))
        return 0; /* the best reading has the face value there itself */
    struct koala_unsaid unsaid =
        which < DIMENSIONS_MOST
            ? koala_sweep_without(best, which)
            : stop_at(sweep, (which - DIMENSIONS_MOST) / STOPS, (which - DIMENSIONS_MOST) % STOPS);
    return koala_run_one(study, setting, seed + KOALA_OTHER_SEEDS, &unsaid, metrics, err);
}

int koala_nearby_run(struct pleat_study *study, const struct koala_sweep *sweep,
                     struct pleat_numbers *nearby, struct pleat_error *err)
{
    struct pleat_sweep runs = {.what = "near the best reading",
                               .settings = (size_t)NEARBY * RUNS * APPROACHES,
                               .metrics = METRICS,
                               .run = run_one,
                               .context = (void *)sweep};
    return pleat_study_sweep(study, &runs, nearby, err);
}

/* ---- tables ---- */

static void write_without(struct pleat_study *study, const struct pleat_numbers *nearby,
                          const struct koala_sweep *sweep)
{
    size_t best = sweep->best[KOALA_SHAPES];
    pleat_page_subheading(&study->page, "What the best reading needs");
    pleat_page_paragraph(
        &study->page,
        "Most shapes at once hold in reading %c. In each row one of its dimensions has the face "
        "value instead (%zu seeds, those of the best readings):",
        koala_sweep_letter(sweep, KOALA_SHAPES), nearby->seeds);
    pleat_page_table(&study->page, "without|shapes that hold|<of those that held, no longer");
    for (size_t d = 0; koala_dimension_at(d); d++) {
        size_t level = koala_sweep_level(best, d), held = 0;
        struct pleat_string lost = {0};
        if (level == 0)
            continue;
        for (size_t i = 0; i < KOALA_SHAPES; i++) {
            bool holds = koala_shape_at(i)->holds(nearby, d);
            held += holds;
            if (!holds && koala_shape_at(i)->holds(&sweep->confirmed, KOALA_SHAPES))
                pleat_string_addf(&lost, "%s%zu", lost.length > 0 ? ", " : "", i + 1);
        }
        pleat_page_cell(&study->page, "%s: %s", koala_dimension_at(d)->name,
                        koala_dimension_at(d)->levels[level]);
        pleat_page_cell(&study->page, "%zu", held);
        pleat_page_cell(&study->page, "%s", lost.length > 0 ? lost.text : "-");
        study->out_of_memory |= lost.failed != 0;
        pleat_string_finish(&lost);
    }
}

static void write_stops(struct pleat_study *study, const struct pleat_numbers *nearby,
                        const struct koala_sweep *sweep)
{
    struct pleat_string farthest = {0};
    koala_sweep_tell(sweep->farthest, &farthest);
    pleat_page_subheading(&study->page, "How much worse EGS with W'm is");
    pleat_page_paragraph(
        &study->page,
        "\"Far worse\" (VII-B) is read as worse by half at least. The table has the response time "
        "of EGS with W'm, divided by that of the run that comes closest to it, by how long a "
        "change of size stops an application (%zu seeds). It does so for three settings: local "
        "users come and go and have half of the processors; the best reading; and the setting of "
        "the sweep in which the ratio is largest (%s). Jobs take 2 and 10 minutes on two "
        "processors, so stops of minutes are not credible.",
        nearby->seeds, farthest.text ? farthest.text : "");
    study->out_of_memory |= farthest.failed != 0;
    pleat_string_finish(&farthest);
    pleat_page_table(&study->page,
                     "a change stops it for, s|local users have half|in the best reading|"
                     "where it is largest");
    for (size_t stop = 0; stop < STOPS; stop++) {
        pleat_page_cell(&study->page, "%.0f", stops[stop]);
        for (size_t place = 0; place < PLACES; place++)
            pleat_page_cell_estimate(
                &study->page, koala_far_worse(nearby, DIMENSIONS_MOST + place * STOPS + stop), 2);
    }
}

void koala_nearby_write(struct pleat_study *study, const struct pleat_numbers *nearby,
                        const struct koala_sweep *sweep)
{
    write_without(study, nearby, sweep);
    write_stops(study, nearby, sweep);
}

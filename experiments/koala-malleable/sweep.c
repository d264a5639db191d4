/* sweep.c - runs the sweep, chooses the best reading of each shape, and confirms it with other
 * seeds; the tables of all that. */
#include "experiments/koala-malleable/sweep.h"

#include <math.h>
#include <stdlib.h>

enum { SEEDS = 6 };

/* ---- runs ---- */

int koala_run_one(const struct pleat_study *study, size_t setting, uint64_t seed,
                  const struct koala_unsaid *unsaid, double *metrics, struct pleat_error *err)
{
    struct koala_trial trial;
    int rc = koala_run(study, (enum approach)(setting / RUNS % APPROACHES), (int)(setting % RUNS),
                       unsaid, seed, &trial, err);
    if (!rc && koala_measure(&trial, metrics))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the results");
    koala_trial_finish(&trial);
    return rc;
}

static int run_drawn(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                     double *metrics, struct pleat_error *err)
{
    (void)context;
    struct koala_unsaid unsaid = koala_sweep_at(setting / RUNS / APPROACHES);
    return koala_run_one(study, setting, seed, &unsaid, metrics, err);
}

/* With seeds that had no part in the choice. */
static int run_best(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                    double *metrics, struct pleat_error *err)
{
    const struct koala_sweep *sweep = context;
    size_t best = sweep->best[setting / RUNS / APPROACHES];
    if (best == SIZE_MAX)
        return 0;
    struct koala_unsaid unsaid = koala_sweep_at(best);
    return koala_run_one(study, setting, seed + KOALA_OTHER_SEEDS, &unsaid, metrics, err);
}

/* ---- the best ---- */

static size_t count_at(const struct koala_sweep *sweep, size_t setting)
{
    size_t count = 0;
    for (size_t i = 0; i < KOALA_SHAPES; i++)
        count += sweep->holds[setting * KOALA_SHAPES + i];
    return count;
}

/* The best setting of those in which a shape holds (KOALA_SHAPES: of all); SIZE_MAX: none. */
static size_t find_best(const struct koala_sweep *sweep, size_t shape, bool credible)
{
    size_t best = SIZE_MAX, most = 0, nearest = 0;
    for (size_t s = 0; s < sweep->settings; s++) {
        if ((shape < KOALA_SHAPES && !sweep->holds[s * KOALA_SHAPES + shape]) ||
            (credible && !koala_sweep_credible(s)))
            continue;
        size_t count = count_at(sweep, s), distance = koala_sweep_distance(s);
        if (best != SIZE_MAX && (count < most || (count == most && distance >= nearest)))
            continue;
        best = s;
        most = count;
        nearest = distance;
    }
    return best;
}

struct pleat_estimate koala_far_worse(const struct pleat_numbers *numbers, size_t setting)
{
    struct pleat_estimate least = {.mean = INFINITY};
    for (int run = EGS_WMR; run < RUNS; run++) {
        struct pleat_estimate ratio = pleat_numbers_ratio(numbers, koala_at(setting, PWA, EGS_WM),
                                                          koala_at(setting, PWA, run), RESPONSE);
        if (ratio.mean < least.mean)
            least = ratio;
    }
    return least;
}

/* The setting in which EGS with W'm is worst for certain: by the lower end of the interval. */
static size_t find_farthest(const struct pleat_numbers *drawn, size_t settings)
{
    size_t farthest = 0;
    double most = 0;
    for (size_t s = 0; s < settings; s++) {
        struct pleat_estimate ratio = koala_far_worse(drawn, s);
        double low = ratio.count > 1 ? ratio.mean - ratio.half : 0;
        if (low > most) {
            farthest = s;
            most = low;
        }
    }
    return farthest;
}

static void choose(struct koala_sweep *sweep)
{
    for (size_t i = 0; i <= KOALA_SHAPES; i++) {
        sweep->best[i] = find_best(sweep, i, true);
        if (sweep->best[i] == SIZE_MAX)
            sweep->best[i] = find_best(sweep, i, false);
    }
}

bool koala_sweep_confirms(const struct koala_sweep *sweep, size_t shape)
{
    return sweep->best[shape] != SIZE_MAX && koala_shape_at(shape)->holds(&sweep->confirmed, shape);
}

/* The first shape with the same best setting. */
static size_t first_with(const struct koala_sweep *sweep, size_t shape)
{
    size_t first = 0;
    while (sweep->best[first] != sweep->best[shape])
        first++;
    return first;
}

char koala_sweep_letter(const struct koala_sweep *sweep, size_t shape)
{
    char letter = 'A';
    for (size_t i = 0; i < first_with(sweep, shape); i++)
        letter = (char)(letter + (sweep->best[i] != SIZE_MAX && first_with(sweep, i) == i));
    return sweep->best[shape] == SIZE_MAX ? '-' : letter;
}

int koala_sweep_run(struct pleat_study *study, struct koala_sweep *sweep, struct pleat_error *err)
{
    struct pleat_numbers drawn;
    *sweep = (struct koala_sweep){.settings = koala_sweep_count(study->quick)};
    struct pleat_sweep first = {.what = "what is left unsaid",
                                .settings = sweep->settings * RUNS * APPROACHES,
                                .metrics = METRICS,
                                .seeds = SEEDS,
                                .run = run_drawn};
    struct pleat_sweep second = {.what = "the best readings",
                                 .settings = (size_t)(KOALA_SHAPES + 1) * RUNS * APPROACHES,
                                 .metrics = METRICS,
                                 .run = run_best,
                                 .context = sweep};
    sweep->holds = calloc(sweep->settings * KOALA_SHAPES, sizeof(*sweep->holds));
    if (!sweep->holds)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the results");
    int rc = pleat_study_sweep(study, &first, &drawn, err);
    sweep->seeds = drawn.seeds;
    for (size_t s = 0; !rc && s < sweep->settings; s++)
        for (size_t i = 0; i < KOALA_SHAPES; i++)
            sweep->holds[s * KOALA_SHAPES + i] = koala_shape_at(i)->holds(&drawn, s);
    if (!rc)
        sweep->farthest = find_farthest(&drawn, sweep->settings);
    pleat_numbers_finish(&drawn);
    if (rc)
        return rc;
    choose(sweep);
    return pleat_study_sweep(study, &second, &sweep->confirmed, err);
}

void koala_sweep_finish(struct koala_sweep *sweep)
{
    pleat_numbers_finish(&sweep->confirmed);
    free(sweep->holds);
    sweep->holds = NULL;
}

/* ---- tables ---- */

/* Begins a table whose titles are a text that may be cut off. */
static void begin(struct pleat_study *study, struct pleat_string *titles)
{
    pleat_page_table(&study->page, titles->text ? titles->text : "");
    study->out_of_memory |= titles->failed != 0;
    pleat_string_finish(titles);
}

static void cell(struct pleat_study *study, struct pleat_string *text)
{
    pleat_page_cell(&study->page, "%s", text->text ? text->text : "");
    study->out_of_memory |= text->failed != 0;
    pleat_string_finish(text);
}

/* The percentage of the settings in which a shape holds: of the credible ones, or of all. */
static double share(const struct koala_sweep *sweep, size_t shape, bool credible, size_t *all)
{
    size_t count = 0;
    *all = 0;
    for (size_t s = 0; s < sweep->settings; s++) {
        if (credible && !koala_sweep_credible(s))
            continue;
        ++*all;
        count += sweep->holds[s * KOALA_SHAPES + shape];
    }
    return *all ? 100 * (double)count / (double)*all : 0;
}

static void write_where(struct pleat_study *study, const struct koala_sweep *sweep,
                        const struct pleat_numbers *named)
{
    struct pleat_string titles = {0};
    size_t all, credible;
    (void)share(sweep, 0, false, &all);
    (void)share(sweep, 0, true, &credible);
    pleat_string_add(&titles, "|<the paper states");
    for (int s = 0; s < KOALA_NAMED; s++)
        pleat_string_addf(&titles, "|<%s", koala_named((enum koala_named)s)->name);
    pleat_string_addf(&titles, "|of all %zu, %%|of the %zu credible ones, %%", all, credible);
    begin(study, &titles);
    for (size_t i = 0; i < KOALA_SHAPES; i++) {
        pleat_page_cell(&study->page, "%zu", i + 1);
        pleat_page_cell(&study->page, "%s", koala_shape_at(i)->statement);
        for (size_t s = 0; s < KOALA_NAMED; s++)
            pleat_page_cell(&study->page, "%s", koala_shape_at(i)->holds(named, s) ? "yes" : "no");
        pleat_page_cell(&study->page, "%.1f", share(sweep, i, false, &all));
        pleat_page_cell(&study->page, "%.1f", share(sweep, i, true, &credible));
    }
}

/* For each level of a dimension the percentage of the settings with it in which a shape holds. */
static void write_levels(struct pleat_study *study, const struct koala_sweep *sweep, size_t shape,
                         size_t dimension)
{
    struct pleat_string text = {0};
    for (size_t level = 0; level < koala_dimension_levels(dimension); level++) {
        size_t count = 0, all = 0;
        for (size_t s = 0; s < sweep->settings; s++)
            if (koala_sweep_level(s, dimension) == level) {
                all++;
                count += sweep->holds[s * KOALA_SHAPES + shape];
            }
        pleat_string_add(&text, level ? " / " : "");
        if (all)
            pleat_string_addf(&text, "%.0f", 100 * (double)count / (double)all);
        else
            pleat_string_add(&text, "-");
    }
    cell(study, &text);
}

static void write_dimensions(struct pleat_study *study, const struct koala_sweep *sweep)
{
    struct pleat_string titles = {0};
    for (size_t d = 0; koala_dimension_at(d); d++) {
        const struct koala_dimension *dimension = koala_dimension_at(d);
        pleat_string_addf(&titles, "|<%s: ", dimension->name);
        for (size_t level = 0; dimension->levels[level]; level++)
            pleat_string_addf(&titles, "%s%s%s", level ? " / " : "", dimension->levels[level],
                              dimension->credible >> level & 1 ? "" : " (not credible)");
    }
    begin(study, &titles);
    for (size_t i = 0; i < KOALA_SHAPES; i++) {
        pleat_page_cell(&study->page, "%zu", i + 1);
        for (size_t d = 0; koala_dimension_at(d); d++)
            write_levels(study, sweep, i, d);
    }
}

static void write_best(struct pleat_study *study, const struct koala_sweep *sweep)
{
    for (size_t i = 0; i <= KOALA_SHAPES; i++) {
        struct pleat_string about = {0};
        if (sweep->best[i] == SIZE_MAX || first_with(sweep, i) != i)
            continue;
        size_t held = 0;
        for (size_t shape = 0; shape < KOALA_SHAPES; shape++)
            held += koala_shape_at(shape)->holds(&sweep->confirmed, i);
        koala_sweep_tell(sweep->best[i], &about);
        pleat_page_item(&study->page, "**%c**%s: %s. %zu of the %d shapes hold there.",
                        koala_sweep_letter(sweep, i),
                        koala_sweep_credible(sweep->best[i]) ? "" : " (not credible)",
                        about.text ? about.text : "", held, KOALA_SHAPES);
        study->out_of_memory |= about.failed != 0;
        pleat_string_finish(&about);
    }
    pleat_page_table(&study->page,
                     "|<the paper states|<reading|<holds with other seeds|<measured there");
    for (size_t i = 0; i < KOALA_SHAPES; i++) {
        struct pleat_string measured = {0};
        bool any = sweep->best[i] != SIZE_MAX;
        pleat_page_cell(&study->page, "%zu", i + 1);
        pleat_page_cell(&study->page, "%s", koala_shape_at(i)->statement);
        pleat_page_cell(&study->page, "%c", koala_sweep_letter(sweep, i));
        pleat_page_cell(&study->page, "%s", koala_sweep_confirms(sweep, i) ? "yes" : "no");
        if (any)
            koala_shape_at(i)->tell(&sweep->confirmed, i, &measured);
        else
            pleat_string_add(&measured, "it holds in no setting");
        cell(study, &measured);
    }
}

void koala_sweep_write(struct pleat_study *study, const struct koala_sweep *sweep,
                       const struct pleat_numbers *named)
{
    size_t credible = 0;
    for (size_t s = 0; s < sweep->settings; s++)
        credible += koala_sweep_credible(s);
    pleat_page_heading(&study->page, "Where each of them holds");
    pleat_page_paragraph(
        &study->page,
        "The first table says in which settings with a name a shape holds (%zu seeds), and in "
        "which percentage of %zu settings that were drawn from all combinations of the levels in "
        "the second table (%zu seeds each). In each dimension half of the drawn settings have the "
        "face value, which is the first level there. %zu of the drawn settings are *credible*. "
        "What is credible was set down before the sweep was run: local users have at most half of "
        "the processors, as their load \"does not disturb the measures\" (VI-C); jobs may grow to "
        "32 processors of a cluster and 64 of all, or more, as figures 7a and 7b are about sizes "
        "up to 46; a change of size takes a minute at most. Fewer clusters in use are: the one of "
        "46; those of 46 and 41; those of 46, 41 and 32; all but the one of 85. The threshold is "
        "tried as one for each cluster and as one for \"the total set of the jobs\" (V-B).",
        named->seeds, sweep->settings, sweep->seeds, credible);
    write_where(study, sweep, named);
    pleat_page_paragraph(
        &study->page,
        "The second table has a row for the shape of each number. It gives, for each level of a "
        "dimension, the percentage of the settings with that level in which the shape holds. About "
        "half of all settings have the first level of a dimension, so its percentage is uncertain "
        "by %.0f points at most. A level that 1 setting in 16 has is uncertain by %.0f points at "
        "most.",
        98 / sqrt((double)sweep->settings / 2), 98 / sqrt((double)sweep->settings / 16));
    write_dimensions(study, sweep);
    pleat_page_subheading(&study->page, "The best reading of each");
    pleat_page_paragraph(
        &study->page,
        "The best reading of a shape is that credible setting, of those in which the shape holds, "
        "in which most other shapes hold, too. Where it holds in no credible setting, the best "
        "reading is taken from all settings. It is run again with %zu seeds that had no part in "
        "the choice; the results of these runs stand here, and in the table at the top. A shape "
        "that holds there is *fitted*, since it was looked for in %zu settings. It is *not found* "
        "where the setting is not credible, or where the shape does not hold with the other seeds.",
        sweep->confirmed.seeds, sweep->settings);
    write_best(study, sweep);
}

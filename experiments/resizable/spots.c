/* spots.c - the sweet spots of Swaminathan 2004, tables 1 and 2, and what looking for them costs.
 */
#include "experiments/resizable/resizable.h"

#include <string.h>

enum { ITERATIONS = 100, PROCESSORS = 36, ON_2 = 1000 };

static const struct {
    const char *name;
    const double *percent;
    const char *where;
    int32_t first, second; /* sweet spot: either of these agrees with the table */
} applications[] = {{"matrix product", resizable_product, "4.2.1, table 1", 20, 25},
                    {"LU factorization", resizable_factors, "4.2.2, table 2", 16, 16}};

enum { APPLICATIONS = sizeof(applications) / sizeof(applications[0]) };

/* What a change of size costs, in iterations at the smallest size. */
static const double costs[] = {0, 0.01, 0.05, 0.1, 0.25, 0.5, 1};

enum { COSTS = sizeof(costs) / sizeof(costs[0]) };

struct found {
    int32_t sizes[SIZES + 4];
    size_t count;
    double run_s;
};

static int find(const struct pleat_study *study, size_t application, double cost,
                struct found *found, struct pleat_error *err)
{
    struct resizable_job job = {
        .iterations = ITERATIONS, .initial = resizable_sizes[0], .redistribution_s = cost * ON_2};
    struct resizable_trial trial;
    resizable_times(ON_2, applications[application].percent, job.times_s);
    int rc = resizable_run(study, &job, 1, PROCESSORS, "remap", &trial, err);
    if (!rc) {
        found->count = resizable_sizes_of(&trial, 0, 0, found->sizes,
                                          sizeof(found->sizes) / sizeof(found->sizes[0]));
        found->run_s = pleat_trial_run_s(&trial.trial, 0);
    }
    resizable_finish(&trial);
    return rc;
}

static int draw(struct pleat_study *study, struct pleat_error *err)
{
    double sizes[SIZES], times[APPLICATIONS][SIZES];
    struct pleat_plot_series series[APPLICATIONS];
    for (int i = 0; i < SIZES; i++)
        sizes[i] = resizable_sizes[i];
    for (size_t a = 0; a < APPLICATIONS; a++) {
        resizable_times(1, applications[a].percent, times[a]);
        size_t known = applications[a].percent == resizable_factors ? SIZES - 1 : SIZES;
        series[a] = (struct pleat_plot_series){applications[a].name, sizes, times[a], known};
    }
    struct pleat_plot panel = {.title = "Time of an iteration, N = 9600",
                               .x_label = "processors",
                               .y_label = "of that on 2 processors",
                               .series = series,
                               .series_count = APPLICATIONS};
    return pleat_page_figure(&study->page, "iterations",
                             "Iteration time against size, by the improvements of tables 1 and 2.",
                             &panel, 1, 1, err);
}

static void tell(struct pleat_study *study, size_t a, const struct found *found)
{
    int32_t spot = found->count ? found->sizes[found->count - 1] : 0;
    /* one whole iteration at each size, smallest first, then one step back */
    bool once = found->count > 1 && found->sizes[0] == resizable_sizes[0];
    for (size_t i = 1; i + 1 < found->count; i++)
        once = once && found->sizes[i] == resizable_sizes[i];
    once = once && found->sizes[found->count - 1] == found->sizes[found->count - 3];
    struct pleat_string statement = {0};
    pleat_string_addf(&statement, "The %s for N = 9600 finds its sweet spot, on %s processors",
                      applications[a].name,
                      applications[a].first == applications[a].second ? "16" : "20 or 25");
    pleat_study_shape(study,
                      &(struct pleat_shape){statement.text ? statement.text : "",
                                            applications[a].where, PLEAT_CLAIMED,
                                            once && (spot == applications[a].first ||
                                                     spot == applications[a].second)},
                      "%d, after %zu iterations", spot, found->count - 1);
    pleat_string_finish(&statement);
}

int resizable_spots(struct pleat_study *study, struct pleat_error *err)
{
    struct found found[APPLICATIONS][COSTS];
    size_t count = study->quick ? 1 : COSTS;
    int rc = 0;
    memset(found, 0, sizeof(found));
    for (size_t a = 0; !rc && a < APPLICATIONS; a++)
        for (size_t c = 0; !rc && c < count; c++)
            rc = find(study, a, costs[c], &found[a][c], err);
    if (rc)
        return rc;
    pleat_page_heading(&study->page, "Sweet spots (tables 1 and 2)");
    pleat_page_paragraph(&study->page,
                         "One application runs alone on %d processors. It begins with 2, and its "
                         "iterations get shorter by the percentages of the tables. 0 %% is no "
                         "improvement, so the product goes back from 25 to 20: the thesis calls a "
                         "size that is not better \"not beneficial\", and leaves a tie open.",
                         PROCESSORS);
    rc = draw(study, err);
    for (size_t a = 0; !rc && a < APPLICATIONS; a++)
        tell(study, a, &found[a][0]);
    if (rc)
        return rc;
    pleat_page_paragraph(
        &study->page,
        "The table says what looking for the sweet spot costs: by how much %d iterations take "
        "longer than the same number at the sweet spot from the beginning. Every change of size "
        "costs the given number of iterations on 2 processors. The sizes are the same whatever a "
        "change costs, since the policy looks at iterations only.",
        ITERATIONS);
    pleat_page_table(&study->page,
                     "a change costs|product, longer by %|factorization, longer by %");
    for (size_t c = 0; c < count; c++) {
        pleat_page_cell(&study->page, "%g", costs[c]);
        for (size_t a = 0; a < APPLICATIONS; a++) {
            double times[SIZES];
            resizable_times(ON_2, applications[a].percent, times);
            double best = times[0];
            for (int i = 1; i < SIZES; i++)
                best = times[i] < best ? times[i] : best;
            pleat_page_cell(&study->page, "%.1f",
                            100 * (found[a][c].run_s / (ITERATIONS * best) - 1));
        }
    }
    return 0;
}

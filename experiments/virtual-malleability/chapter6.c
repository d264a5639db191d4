/* chapter6.c - FJT(4), FJT(1) and FCFS with backfilling, at loads of 40 to 100 % (Utrera 2010,
 * figures 6.4 to 6.15). */
#include "experiments/virtual-malleability/virtual.h"

#include <math.h>

enum { SHOWN = 4, ALL = 8, LOW = 0, FULL = VM_LOADS - 1, OVERHEADS = 3, MINIMA = 4 };

static const enum vm_policy policies[ALL] = {
    /* the first four are those of the figures */
    VM_FJT,
    VM_FJT1_ABORT,
    VM_FJT1_MALLEABILITY,
    VM_FCFS_ABORT,
    VM_FJT1_ABORT_DUE,
    VM_FJT1_MALLEABILITY_DUE,
    VM_FJT1_ABORT_FURTHER,
    VM_FJT1_MALLEABILITY_FURTHER};
/* Those that the sweeps compare. */
enum { SWEPT = 4 };
static const enum vm_policy swept[SWEPT] = {VM_FJT, VM_FJT1_MALLEABILITY, VM_FJT1_ABORT_DUE,
                                            VM_FJT1_MALLEABILITY_DUE};
static const double overheads[OVERHEADS] = {0, 0.1, 0.5};
static const int32_t minima[MINIMA] = {1, 8, 16, 32};

static struct vm_setting setting(int family, int load, enum vm_policy policy)
{
    return (struct vm_setting){vm_families[family], vm_loads[load], policy, vm_chapter6};
}

static struct vm_setting varied(int family, int load, enum vm_policy policy, int overhead,
                                int minimum)
{
    struct vm_setting varied = setting(family, load, policy);
    varied.unsaid.overhead = overheads[overhead];
    varied.unsaid.long_minimum = minima[minimum];
    return varied;
}

int vm_chapter6_add(struct vm_results *results, bool quick)
{
    int rc = vm_conclusions6_add(results);
    for (int family = 0; family < VM_FAMILIES; family++)
        for (int p = 0; p < ALL; p++) {
            for (int load = 0; !rc && load < VM_LOADS; load++)
                rc = vm_add(results, setting(family, load, policies[p]));
        }
    for (int family = 0; !quick && family < VM_FAMILIES; family++)
        for (int p = 0; p < SWEPT; p++)
            for (int o = 0; o < OVERHEADS; o++)
                for (int m = 0; !rc && m < MINIMA; m++) {
                    rc = vm_add(results, varied(family, LOW, swept[p], o, m));
                    if (!rc)
                        rc = vm_add(results, varied(family, FULL, swept[p], o, m));
                }
    return rc;
}

static struct pleat_estimate estimate_of(const struct vm_results *results, int family, int load,
                                         enum vm_policy policy, int class_, int time)
{
    return vm_estimate(results, setting(family, load, policy), vm_metric(class_, time));
}

/* ---- the page ---- */

static void write_tables(struct pleat_page *page, const struct vm_results *results)
{
    pleat_page_paragraph(
        page, "Long jobs have at least 8 processes here. Policies marked (6.1) have the windows of "
              "that section; under those marked (on) backfilling goes on once windows have expired "
              "(end of 6.4.3). Aborted: restarts in a run of 120 to 165 jobs.");
    for (int family = 0; family < VM_FAMILIES; family++) {
        pleat_page_subheading(page, family == 0 ? "High communication (table 6.1)"
                                                : "Low communication (table 6.2)");
        pleat_page_table(page, "load|<policy|long: response|wait|execution|short: response|wait|"
                               "execution|aborted");
        for (int load = 0; load < VM_LOADS; load++)
            for (int p = 0; p < ALL; p++) {
                struct vm_setting of = setting(family, load, policies[p]);
                pleat_page_cell(page, "%.0f %%", 100 * vm_loads[load]);
                pleat_page_cell(page, "%s", vm_policy_name(policies[p]));
                for (int class_ = 0; class_ < VM_CLASSES; class_++)
                    for (int time = 0; time < VM_TIMES; time++)
                        pleat_page_cell_estimate(page,
                                                 vm_estimate(results, of, vm_metric(class_, time)),
                                                 class_ == VM_LONG ? 0 : 1);
                pleat_page_cell(page, "%.1f", vm_estimate(results, of, VM_RESTARTS).mean);
            }
    }
}

/* Draws a time of long and of short jobs, for both families. */
static int draw(struct pleat_study *study, const struct vm_results *results, const char *name,
                const char *caption, int time, struct pleat_error *err)
{
    static const char *const titles[VM_FAMILIES][VM_CLASSES] = {
        {"Long jobs, high communication", "Short jobs, high communication"},
        {"Long jobs, low communication", "Short jobs, low communication"}};
    enum { PANELS = VM_FAMILIES * VM_CLASSES };
    double x[VM_LOADS], y[PANELS][SHOWN][VM_LOADS];
    double low[PANELS][SHOWN][VM_LOADS], high[PANELS][SHOWN][VM_LOADS];
    struct pleat_plot_series series[PANELS][SHOWN];
    struct pleat_plot_band bands[PANELS][SHOWN];
    struct pleat_plot panels[PANELS];
    for (int panel = 0; panel < PANELS; panel++) {
        int family = panel / VM_CLASSES, class_ = panel % VM_CLASSES;
        for (int p = 0; p < SHOWN; p++) {
            for (int load = 0; load < VM_LOADS; load++) {
                x[load] = 100 * vm_loads[load];
                struct pleat_estimate of =
                    estimate_of(results, family, load, policies[p], class_, time);
                y[panel][p][load] = of.mean;
                pleat_estimate_ends(of, &low[panel][p][load], &high[panel][p][load]);
            }
            series[panel][p] =
                (struct pleat_plot_series){vm_policy_name(policies[p]), x, y[panel][p], VM_LOADS};
            bands[panel][p] = (struct pleat_plot_band){low[panel][p], high[panel][p]};
        }
        panels[panel] = (struct pleat_plot){.title = titles[family][class_],
                                            .x_label = "machine load, %",
                                            .y_label = "seconds",
                                            .style = PLEAT_PLOT_LINES,
                                            .series = series[panel],
                                            .bands = bands[panel],
                                            .series_count = SHOWN};
    }
    return pleat_page_figure(&study->page, name, caption, panels, PANELS, 1, err);
}

static void write_sweep(struct pleat_page *page, const struct vm_results *results, int load,
                        enum vm_policy a, enum vm_policy b, int class_)
{
    pleat_page_table(page, "cost of a process more|high: 1|8|16|32|low: 1|8|16|32");
    for (int o = 0; o < OVERHEADS; o++) {
        pleat_page_cell(page, "%.0f %%", 100 * overheads[o]);
        for (int family = 0; family < VM_FAMILIES; family++)
            for (int m = 0; m < MINIMA; m++) {
                struct pleat_estimate by =
                    vm_gain(results, varied(family, load, a, o, m), varied(family, load, b, o, m),
                            vm_metric(class_, VM_RESPONSE));
                pleat_page_cell(page, "%s %%", pleat_estimate_text_plus(vm_percent(by), 0).text);
            }
    }
}

static void write_sweeps(struct pleat_study *study, const struct vm_results *results)
{
    struct pleat_page *page = &study->page;
    pleat_page_subheading(page, "What the thesis leaves unsaid");
    pleat_page_paragraph(page,
                         "By how much responses are shorter under the first policy than under "
                         "the second, by what each process more on a processor costs (rows) "
                         "and by the fewest processes that a long job may have (columns), "
                         "for both families. FJT(4) and FJT(1)+malleability, long jobs at "
                         "40 %%:");
    write_sweep(page, results, LOW, VM_FJT, VM_FJT1_MALLEABILITY, VM_LONG);
    pleat_page_paragraph(page, "FJT(1)+malleability and FJT(4), long jobs at 100 %%:");
    write_sweep(page, results, FULL, VM_FJT1_MALLEABILITY, VM_FJT, VM_LONG);
    pleat_page_paragraph(page, "FJT(1)+malleability and FJT(1)+abort with windows of 6.1, short "
                               "jobs at 100 %%:");
    write_sweep(page, results, FULL, VM_FJT1_MALLEABILITY_DUE, VM_FJT1_ABORT_DUE, VM_SHORT);
    pleat_page_paragraph(
        page, "By section 6.4.3 a window ends when no job runs any more that came before the first "
              "waiting one. With several jobs on the machine that hardly ever happens: the first "
              "waiting job starts, on idle processors, before the last of the earlier ones has "
              "ended. So abort and malleability are the same policy there. The difference that the "
              "thesis measured between them must come from something that it does not tell.");
}

int vm_chapter6_write(struct pleat_study *study, const struct vm_results *results,
                      struct pleat_error *err)
{
    static const struct {
        const char *name, *caption;
    } figures[VM_TIMES] = {
        {"figures-6-4-to-6-7", "Figures 6.4 to 6.7: response, with 95 % intervals"},
        {"figures-6-8-to-6-11", "Figures 6.8 to 6.11: waiting, with 95 % intervals"},
        {"figures-6-12-to-6-15", "Figures 6.12 to 6.15: execution, with 95 % intervals"}};
    int rc = 0;
    pleat_page_heading(&study->page, "Folding by job type with backfilling (chapter 6)");
    vm_conclusions6_tell(study, results);
    vm_conclusions6_write(study, results);
    for (int time = 0; !rc && time < VM_TIMES; time++)
        rc = draw(study, results, figures[time].name, figures[time].caption, time, err);
    if (rc)
        return rc;
    write_tables(&study->page, results);
    if (!study->quick)
        write_sweeps(study, results);
    return 0;
}

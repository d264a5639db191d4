/* chapter5.c - PSA, ASP60, FOLDING and FJT over w1 to w6 (Utrera 2010, figures 5.6 to 5.8). */
#include "experiments/virtual-malleability/virtual.h"

#include <math.h>

enum { SHOWN = 4, RIVALS = 3, OTHERS = 4, OVERHEADS = 4, MINIMA = 4 };

/* The policies of the figures, FJT last. PSA is read as 5.4.1 has it: see conclusions5.c. */
static const enum vm_policy shown[SHOWN] = {VM_PSA_IDLE, VM_ASP60, VM_FOLDING, VM_FJT};
static const enum vm_policy others[OTHERS] = {VM_PSA, VM_ASP60_IDLE, VM_FOLDING_UNFOLDS,
                                              VM_FJT_FIGURE};
static const double overheads[OVERHEADS] = {0, 0.1, 0.5, 1};
static const int32_t minima[MINIMA] = {1, 8, 16, 32};

static struct vm_setting setting(int mix, enum vm_policy policy)
{
    return (struct vm_setting){vm_mixes[mix], 0, policy, vm_chapter5};
}

static struct vm_setting varied(int mix, enum vm_policy policy, int overhead, int minimum)
{
    struct vm_setting varied = setting(mix, policy);
    varied.unsaid.overhead = overheads[overhead];
    varied.unsaid.long_minimum = minima[minimum];
    return varied;
}

int vm_chapter5_add(struct vm_results *results, bool quick)
{
    int rc = vm_conclusions5_add(results);
    for (int mix = 0; !rc && mix < VM_MIXES; mix++) {
        for (int p = 0; !rc && p < SHOWN; p++)
            rc = vm_add(results, setting(mix, shown[p]));
        for (int p = 0; !rc && p < OTHERS; p++)
            rc = vm_add(results, setting(mix, others[p]));
        for (int o = 0; !rc && !quick && o < OVERHEADS; o++)
            for (int m = 0; !rc && m < MINIMA; m++) {
                for (int p = 0; !rc && p < SHOWN; p++)
                    rc = vm_add(results, varied(mix, shown[p], o, m));
                if (!rc)
                    rc = vm_add(results, varied(mix, VM_PSA, o, m));
            }
    }
    return rc;
}

static struct pleat_estimate estimate_of(const struct vm_results *results, int mix,
                                         enum vm_policy policy, int class_, int time)
{
    return vm_estimate(results, setting(mix, policy), vm_metric(class_, time));
}

/* ---- the page ---- */

static void write_row(struct pleat_page *page, const struct vm_results *results, int mix,
                      enum vm_policy policy)
{
    struct vm_setting of = setting(mix, policy);
    pleat_page_cell(page, "%s", vm_mixes[mix]);
    pleat_page_cell(page, "%s", policy == VM_FJT ? "FJT" : vm_policy_name(policy));
    for (int class_ = 0; class_ < VM_CLASSES; class_++)
        for (int time = 0; time < VM_TIMES; time++)
            pleat_page_cell_estimate(page, vm_estimate(results, of, vm_metric(class_, time)),
                                     class_ == VM_LONG ? 0 : 1);
}

static void write_tables(struct pleat_page *page, const struct vm_results *results)
{
    pleat_page_paragraph(
        page, "Seconds, means over the jobs of a class and over seeds. A run has four or five long "
              "jobs in w1 to w3, and one to four in w4 to w6, so the intervals of long jobs are "
              "wide. Differences between policies are taken over the same jobs, run by run; even "
              "their intervals are 7 to 25 percentage points, since long jobs differ so much.");
    pleat_page_table(page, "mix|<policy|long: response|wait|execution|short: response|wait|"
                           "execution");
    for (int mix = 0; mix < VM_MIXES; mix++)
        for (int p = 0; p < SHOWN; p++)
            write_row(page, results, mix, shown[p]);
    pleat_page_subheading(page, "The other readings");
    pleat_page_table(page, "mix|<policy|long: response|wait|execution|short: response|wait|"
                           "execution");
    for (int mix = 0; mix < VM_MIXES; mix++)
        for (int p = 0; p < OTHERS; p++)
            write_row(page, results, mix, others[p]);
}

static int draw(struct pleat_study *study, const struct vm_results *results, const char *name,
                const char *caption, int class_, int first, int count, struct pleat_error *err)
{
    static const char *const titles[2] = {"Waiting", "Execution"};
    double x[VM_MIXES], y[2][SHOWN][VM_MIXES];
    double low[2][SHOWN][VM_MIXES], high[2][SHOWN][VM_MIXES];
    const char *names[VM_MIXES];
    struct pleat_plot_series series[2][SHOWN];
    struct pleat_plot_band bands[2][SHOWN];
    struct pleat_plot panels[2];
    for (int panel = 0; panel < 2; panel++) {
        for (int p = 0; p < SHOWN; p++) {
            for (int i = 0; i < count; i++) {
                x[i] = i;
                names[i] = vm_mixes[first + i];
                struct pleat_estimate of = estimate_of(results, first + i, shown[p], class_,
                                                       panel == 0 ? VM_WAIT : VM_EXECUTION);
                y[panel][p][i] = of.mean;
                pleat_estimate_ends(of, &low[panel][p][i], &high[panel][p][i]);
            }
            series[panel][p] =
                (struct pleat_plot_series){shown[p] == VM_FJT ? "FJT" : vm_policy_name(shown[p]), x,
                                           y[panel][p], (size_t)count};
            bands[panel][p] = (struct pleat_plot_band){low[panel][p], high[panel][p]};
        }
        panels[panel] = (struct pleat_plot){.title = titles[panel],
                                            .x_label = "workload",
                                            .y_label = "seconds",
                                            .style = PLEAT_PLOT_BARS,
                                            .series = series[panel],
                                            .bands = bands[panel],
                                            .series_count = SHOWN,
                                            .x_names = names};
    }
    return pleat_page_figure(&study->page, name, caption, panels, 2, 1, err);
}

/* Adds a mix to a mean over all of them. They have the same seeds, so their errors may have the
 * same sign: half-widths are added, not their squares. */
static void add_mix(struct pleat_estimate *mean, struct pleat_estimate of)
{
    mean->mean += of.mean / VM_MIXES;
    mean->half += of.half / VM_MIXES;
    mean->count = of.count;
}

/* FJT's gain over the best of the others, with this PSA, as the mean over the mixes. */
static void write_sweep(struct pleat_page *page, const struct vm_results *results,
                        enum vm_policy psa)
{
    const enum vm_policy rivals[RIVALS] = {psa, VM_ASP60, VM_FOLDING};
    pleat_page_table(page, "cost of a process more|1|8|16|32");
    for (int o = 0; o < OVERHEADS; o++) {
        pleat_page_cell(page, "%.0f %%", 100 * overheads[o]);
        for (int m = 0; m < MINIMA; m++) {
            struct pleat_estimate sum = {0};
            for (int mix = 0; mix < VM_MIXES; mix++) {
                struct pleat_estimate least = {.mean = INFINITY};
                for (int p = 0; p < RIVALS; p++) {
                    struct pleat_estimate gain =
                        vm_gain(results, varied(mix, VM_FJT, o, m), varied(mix, rivals[p], o, m),
                                vm_metric(VM_LONG, VM_RESPONSE));
                    least = gain.mean < least.mean ? gain : least;
                }
                add_mix(&sum, least);
            }
            pleat_page_cell(page, "%s %%", pleat_estimate_text_plus(vm_percent(sum), 0).text);
        }
    }
}

static void write_sweeps(struct pleat_study *study, const struct vm_results *results)
{
    struct pleat_page *page = &study->page;
    pleat_page_subheading(page, "What the thesis leaves unsaid");
    pleat_page_paragraph(
        page, "By how much a long job's response is shorter under FJT than under the best of the "
              "three others (mean over w1 to w6), by what each process more on a processor costs "
              "(rows) and by the fewest processes that a long job may have (columns). The thesis "
              "says that these are 1 (3.6.1), and that a long job should not get few (6.4.2).");
    write_sweep(page, results, VM_PSA_IDLE);
    pleat_page_paragraph(page, "The same with PSA as section 5.2 describes it:");
    write_sweep(page, results, VM_PSA);
    pleat_page_paragraph(
        page, "So FJT's advantage comes from the others starting long jobs on a few processors, "
              "which they then keep. Where long jobs may not start so small, or policies save "
              "processors for them as PSA of section 5.2 does, folding them costs more than it "
              "gains.");
}

/* ---- why long jobs gain ---- */

enum { COMPARED = 4, COST_TAKEN = 1 };
static const enum vm_policy compared[COMPARED] = {VM_PSA_IDLE, VM_PSA, VM_ASP60, VM_FOLDING};

static struct pleat_estimate gain_over(const struct vm_results *results, int mix,
                                       enum vm_policy rival, int minimum)
{
    return vm_gain(results, varied(mix, VM_FJT, COST_TAKEN, minimum),
                   varied(mix, rival, COST_TAKEN, minimum), vm_metric(VM_LONG, VM_RESPONSE));
}

static struct pleat_estimate processors_of(const struct vm_results *results, int mix,
                                           enum vm_policy policy, int minimum)
{
    return vm_estimate(results, varied(mix, policy, COST_TAKEN, minimum), VM_PROCESSORS);
}

/* In how many mixes does FJT gain where its long jobs have more processors, and lose where they
 * have fewer? */
static int follows(const struct vm_results *results, enum vm_policy rival, int minimum)
{
    int count = 0;
    for (int mix = 0; mix < VM_MIXES; mix++) {
        double more = processors_of(results, mix, VM_FJT, minimum).mean -
                      processors_of(results, mix, rival, minimum).mean;
        count += (more > 0) == (gain_over(results, mix, rival, minimum).mean > 0);
    }
    return count;
}

static void write_processors(struct pleat_page *page, const struct vm_results *results)
{
    int pairs = 0;
    pleat_page_subheading(page, "Why long jobs gain");
    pleat_page_paragraph(
        page,
        "How many processors a long job has, on average over its run (mean over w1 to w6), "
        "by the fewest processes that it may have, and by how much its response is shorter "
        "under FJT. If the number of processors were the reason, FJT's long jobs would gain "
        "against a policy under which they have fewer than under FJT, and lose where they "
        "have more; the last column says in how many of the %d mixes it is so.",
        VM_MIXES);
    pleat_page_table(page, "fewest processes|<policy|processors|under FJT|FJT's response is "
                           "shorter by|as the processors say, of 6");
    for (int m = 0; m < MINIMA; m++)
        for (int p = 0; p < COMPARED; p++) {
            struct pleat_estimate under = {0}, fjt = {0}, gain = {0};
            for (int mix = 0; mix < VM_MIXES; mix++) {
                add_mix(&under, processors_of(results, mix, compared[p], m));
                add_mix(&fjt, processors_of(results, mix, VM_FJT, m));
                add_mix(&gain, gain_over(results, mix, compared[p], m));
            }
            pleat_page_cell(page, "%d", minima[m]);
            pleat_page_cell(page, "%s", vm_policy_name(compared[p]));
            pleat_page_cell_estimate(page, under, 1);
            pleat_page_cell_estimate(page, fjt, 1);
            pleat_page_cell(page, "%s %%", pleat_estimate_text_plus(vm_percent(gain), 0).text);
            pleat_page_cell(page, "%d", follows(results, compared[p], m));
            pairs += follows(results, compared[p], m);
        }
    pleat_page_paragraph(
        page,
        "So it is in %d of %d pairs: the number of processors tells who gains, but not how much. "
        "With 1 process the means are within a fifth of one another, and responses are not. With 8 "
        "at least the gain over PSA of idle processors and ASP60 is small or gone, while the means "
        "are a tenth to a fifth higher. So what FJT's long jobs gain comes from those that start "
        "on "
        "fewer than 8 processors under these policies, and keep them: one of these lasts many "
        "times "
        "as long, but changes the mean of the processors little. Where long jobs start on more "
        "processors under PSA and ASP60 than under FJT, they lose by FJT.",
        pairs, MINIMA * COMPARED * VM_MIXES);
}

int vm_chapter5_write(struct pleat_study *study, const struct vm_results *results,
                      struct pleat_error *err)
{
    pleat_page_heading(&study->page, "Folding by job type (chapter 5)");
    vm_conclusions5_tell(study, results);
    vm_conclusions5_write(study, results);
    write_tables(&study->page, results);
    int rc = draw(study, results, "figure-5-6",
                  "Figure 5.6: long jobs, w1 to w3, with 95 % intervals", VM_LONG, 0, 3, err);
    if (!rc)
        rc = draw(study, results, "figure-5-7",
                  "Figure 5.7: short jobs, w1 to w3, with 95 % intervals", VM_SHORT, 0, 3, err);
    if (!rc)
        rc = draw(study, results, "figure-5-8",
                  "Figure 5.8: long jobs, w4 to w6, with 95 % intervals", VM_LONG, 3, 3, err);
    if (!rc && !study->quick) {
        write_sweeps(study, results);
        write_processors(&study->page, results);
    }
    return rc;
}

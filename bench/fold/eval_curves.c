/* eval_curves.c - what the load-balance detector sees of a program as it goes on (Utrera 2010,
 * 4.4.3 and 4.4.4, figures 4.10 to 4.13). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "machine.h"
#include "progress.h"

#define LIMIT_S 300.0
#define TEXT 64
#define THRESHOLD 0.1 /* of idleness: above it the paper's detector keeps the global queue */
#define STEADY_CVCS 0.1
#define STEADY_IP 0.05
#define LONGER 4 /* than programs usually run */
#define POINTS_MAX 4000

static const struct program {
    const char *name; /* of a case */
    bool imbalanced;
} programs[] = {{"mg", false},
                {"ft", false},
                {"lu", false},
                {"send.50x1.spread", false},
                {"mz", true},
                {"send.50x2.spread", true},
                {"send.50x6.spread", true},
                {"send.30x6.spread", true}};
#define PROGRAMS (int)(sizeof(programs) / sizeof(programs[0]))

struct curve {
    double time_s[POINTS_MAX], cvcs[POINTS_MAX], ip[POINTS_MAX];
    int count;
};

/* Of each program: of the first round all of it; of each round what statements need. */
static struct seen {
    struct curve curve;
    struct bench_series cvcs_change, ip_change, ip_early, ip_end;
} seen[TRIAL_MPIS][PROGRAMS];
static bool quick, wanted[TRIAL_MPIS];
static double times;

static void plan(struct eval *eval)
{
    quick = eval->quick;
    times = eval->times;
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++)
        wanted[mpi] = eval_wants(eval, mpi);
}

static bool is_run(int program)
{
    return !quick || program == 0 || program == PROGRAMS - 1;
}

static int runs(void)
{
    int count = 0;
    for (int m = 0; m < TRIAL_MPIS; m++)
        for (int p = 0; wanted[m] && p < PROGRAMS; p++)
            count += is_run(p);
    return count;
}

/* ---- samples ---- */

/* The coefficient of variation of the context switches (equation 4.1), and the idleness, read as
 * 1 - sum / (n max), both since the start. False: nothing has been seen of some process. */
static bool judge(const double *switches, const double *useful, double *cvcs, double *ip)
{
    double sum = 0, squares = 0, most = 0, useful_sum = 0;
    for (int i = 0; i < CASE_PROCESSES; i++) {
        if (switches[i] < 1)
            return false;
        sum += switches[i];
        squares += switches[i] * switches[i];
        useful_sum += useful[i];
        most = fmax(most, useful[i]);
    }
    double mean = sum / CASE_PROCESSES;
    *cvcs = sqrt(fmax(0, squares / CASE_PROCESSES - mean * mean)) / mean;
    *ip = most > 0 ? 1 - useful_sum / (CASE_PROCESSES * most) : 0;
    return most > 0;
}

/* Lines as fold-run writes them; times from the first one on that shows all processes. */
static void read_curve(const char *text, struct curve *curve)
{
    double begun_s = 0;
    curve->count = 0;
    for (const char *line = text; line && *line && curve->count < POINTS_MAX;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        double switches[CASE_PROCESSES], useful[CASE_PROCESSES];
        char *at;
        double time_s = strtod(line, &at);
        for (int i = 0; i < CASE_PROCESSES; i++) {
            switches[i] = strtod(at, &at);
            useful[i] = strtod(at, &at);
        }
        int next = curve->count;
        if (!judge(switches, useful, &curve->cvcs[next], &curve->ip[next]))
            continue;
        if (next == 0)
            begun_s = time_s;
        curve->time_s[next] = time_s - begun_s;
        curve->count++;
    }
}

/* How much values move in the second half of the time. */
static double change_of(const struct curve *curve, const double *values)
{
    double low = INFINITY, high = -INFINITY, half_s = curve->time_s[curve->count - 1] / 2;
    for (int i = 0; i < curve->count; i++)
        if (curve->time_s[i] >= half_s) {
            low = fmin(low, values[i]);
            high = fmax(high, values[i]);
        }
    return high - low;
}

/* The most of the first tenth. */
static double early_of(const struct curve *curve)
{
    double most = 0, tenth_s = curve->time_s[curve->count - 1] / 10;
    for (int i = 0; i < curve->count && curve->time_s[i] <= tenth_s; i++)
        most = fmax(most, curve->ip[i]);
    return most;
}

static void note(struct seen *one, const struct curve *curve)
{
    if (!one->curve.count)
        one->curve = *curve;
    bench_add(&one->cvcs_change, change_of(curve, curve->cvcs));
    bench_add(&one->ip_change, change_of(curve, curve->ip));
    bench_add(&one->ip_early, early_of(curve));
    bench_add(&one->ip_end, curve->ip[curve->count - 1]);
}

static void run(struct eval *eval, enum trial_mpi mpi, int program)
{
    static struct curve curve;
    const struct case_program *of = case_find(programs[program].name);
    const struct trial_setup setup = {.mpi = mpi,
                                      .way = TRIAL_FOLDED,
                                      .settings = "queue=global,next=sender",
                                      .processes = CASE_PROCESSES,
                                      .cpus = machine_cpus(CASE_PROCESSORS_MAX),
                                      .program = of->program,
                                      .options = case_options(of, CASE_PROCESSES, LONGER * times),
                                      .samples = true,
                                      .limit_s = LIMIT_S};
    struct trial_result result;
    progress_step(of->name, trial_mpi_name(mpi));
    bench_add(&eval->others, trial_run(&setup, &result));
    if (result.outcome == TRIAL_TIMED_OUT)
        trial_give_up(of->name, "it took too long");
    read_curve(result.samples, &curve);
    if (curve.count)
        note(&seen[mpi][program], &curve);
    else if (!quick)
        trial_give_up(of->name, "nothing was seen of its processes");
    trial_release(&result);
}

static void do_round(struct eval *eval, int round)
{
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++)
        for (int i = 0; wanted[mpi] && i < PROGRAMS; i++)
            if (is_run((i + round) % PROGRAMS))
                run(eval, mpi, (i + round) % PROGRAMS);
}

/* ---- figures ---- */

static int add_figure(struct eval *eval, enum trial_mpi mpi, bool is_ip, struct pleat_error *err)
{
    struct pleat_plot_series series[2][PROGRAMS];
    struct pleat_plot panels[2] = {{.title = "balanced"}, {.title = "imbalanced"}};
    char name[TEXT], caption[256];
    for (int p = 0; p < PROGRAMS; p++) {
        struct curve *curve = &seen[mpi][p].curve;
        struct pleat_plot *panel = &panels[programs[p].imbalanced];
        if (curve->count)
            series[programs[p].imbalanced][panel->series_count++] =
                (struct pleat_plot_series){programs[p].name, curve->time_s,
                                           is_ip ? curve->ip : curve->cvcs, (size_t)curve->count};
    }
    for (int i = 0; i < 2; i++) {
        panels[i].series = series[i];
        panels[i].x_label = "time, s";
        panels[i].y_label = is_ip ? "idleness" : "CVCS";
        if (!panels[i].series_count)
            return 0; /* a quick run */
    }
    snprintf(name, sizeof(name), "figure-4-%d-%s", is_ip ? 12 : 10, trial_mpi_name(mpi));
    snprintf(caption, sizeof(caption), "Figures %s anew with %s: %s since the start, first round.",
             is_ip ? "4.12 and 4.13" : "4.10 and 4.11", eval_mpi_title(mpi),
             is_ip ? "idleness percentage" : "coefficient of variation of context switches");
    return pleat_page_figure(&eval->page, name, caption, panels, 2, 2, err);
}

/* ---- the paper's statements; these criteria were written before the rounds ---- */

static void add_table(struct pleat_page *page, enum trial_mpi mpi)
{
    pleat_page_table(page, "program|<made|<CVCS moves by|idleness moves by|most idleness of the "
                           "first tenth|idleness at the end");
    for (int p = 0; p < PROGRAMS; p++) {
        const struct seen *one = &seen[mpi][p];
        if (!one->ip_end.count)
            continue;
        pleat_page_cell(page, "%s", programs[p].name);
        pleat_page_cell(page, "%s", programs[p].imbalanced ? "imbalanced" : "balanced");
        eval_cell_series(page, &one->cvcs_change);
        eval_cell_series(page, &one->ip_change);
        eval_cell_series(page, &one->ip_early);
        eval_cell_series(page, &one->ip_end);
    }
}

static void tell_steady(struct eval *eval, enum trial_mpi mpi, bool is_ip)
{
    enum eval_answer answer = EVAL_YES;
    double most = 0, limit = is_ip ? STEADY_IP : STEADY_CVCS;
    const char *which = "";
    for (int p = 0; p < PROGRAMS; p++) {
        const struct seen *one = &seen[mpi][p];
        const struct bench_series *change = is_ip ? &one->ip_change : &one->cvcs_change;
        if (change->count)
            answer = eval_and(answer, eval_not(eval_above(change, limit)));
        if (change->count && bench_median(change) >= most) {
            most = bench_median(change);
            which = programs[p].name;
        }
    }
    eval_tell(eval,
              is_ip ? "Once a program has stabilized, its idleness stays the same to the end"
                    : "Once a program does regular work, its CVCS stays the same",
              is_ip ? "4.4.4, figures 4.12, 4.13" : "4.4.3, figures 4.10, 4.11", answer,
              "%s: in the second half by %.3f at most (%s; the criterion is %.2f)",
              eval_mpi_title(mpi), most, which, limit);
}

/* At least one balanced program would be called imbalanced at the beginning. */
static void tell_beginning(struct eval *eval, enum trial_mpi mpi)
{
    int wrong = 0, balanced = 0;
    enum eval_answer right = EVAL_YES;
    for (int p = 0; p < PROGRAMS; p++) {
        const struct seen *one = &seen[mpi][p];
        if (programs[p].imbalanced || eval_above(&one->ip_end, THRESHOLD) != EVAL_NO)
            continue;
        balanced++;
        wrong += bench_median(&one->ip_early) > THRESHOLD;
        right = eval_and(right, eval_not(eval_above(&one->ip_early, THRESHOLD)));
    }
    eval_tell(eval, "The idleness of the beginning would lead to incorrect classifications",
              "4.4.4, figure 4.12", balanced ? eval_not(right) : EVAL_UNCLEAR,
              "%s: %d of %d programs that end as balanced are above 10 %% in the first tenth",
              eval_mpi_title(mpi), wrong, balanced);
}

static void tell_end(struct eval *eval, enum trial_mpi mpi)
{
    double most = 0, least = INFINITY;
    enum eval_answer answer = EVAL_YES;
    for (int p = 0; p < PROGRAMS; p++) {
        const struct bench_series *end = &seen[mpi][p].ip_end;
        enum eval_answer above = eval_above(end, THRESHOLD);
        if (!end->count)
            continue;
        answer = eval_and(answer, programs[p].imbalanced ? above : eval_not(above));
        if (programs[p].imbalanced)
            least = fmin(least, bench_median(end));
        else
            most = fmax(most, bench_median(end));
    }
    eval_tell(eval, "10 % of idleness are between balanced and imbalanced programs",
              "4.4.4, figures 4.12, 4.13", answer,
              "%s: balanced %.0f %% at most, imbalanced %.0f %% at least", eval_mpi_title(mpi),
              100 * most, 100 * least);
}

static int report(struct eval *eval, struct pleat_error *err)
{
    struct pleat_page *page = &eval->page;
    int rc = 0;
    pleat_page_heading(page, "What the detector sees (figures 4.10 to 4.13)");
    pleat_page_paragraph(
        page,
        "8 processes on 2 processors (MPL 4), a global queue, the next one is the sender, as in "
        "the paper. Every 10 ms the counters of all processes are read: context switches, of which "
        "equation 4.1 takes the coefficient of variation (CVCS), and useful processor time, of "
        "which the idleness is 1 - sum / (n max). Both are counted from the start; the paper does "
        "not say from when. The agent's detector counts the idleness from the moment at which the "
        "CVCS has become steady (`src/agent/detector.h`), so it does not see the beginning. "
        "\"Moves "
        "by\": the most less the least, in the second half of the time. Median over rounds, least "
        "and most. In send.50x2 half of the processes compute twice as much as the others. Figure "
        "4.14 is a drawing.");
    for (enum trial_mpi mpi = TRIAL_OPENMPI; !rc && mpi < TRIAL_MPIS; mpi++) {
        if (!wanted[mpi])
            continue;
        pleat_page_subheading(page, eval_mpi_title(mpi));
        rc = add_figure(eval, mpi, false, err);
        rc = rc ? rc : add_figure(eval, mpi, true, err);
        add_table(page, mpi);
        tell_steady(eval, mpi, false);
        tell_steady(eval, mpi, true);
        tell_beginning(eval, mpi);
        tell_end(eval, mpi);
    }
    return rc;
}

const struct eval_part eval_curves = {"curves", plan, runs, do_round, report, NULL};

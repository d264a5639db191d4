/* eval_loads.c - jobs that have processors to themselves against jobs that share them (Utrera 2010,
 * 4.6: figures 4.15 to 4.20, tables 4.6 and 4.7). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eval.h"
#include "loads.h"

#define MIXES LOAD_MIXES
#define LEVELS 3
#define MIX_PROCESSES 8
#define EP 1 /* in the loads of low communication */

static const struct load_set *set;
static const int levels[LEVELS] = {2, 4, 6};

static struct load of_mix[TRIAL_MPIS][MIXES], of_kind[TRIAL_MPIS][LOAD_KINDS][LEVELS];

static void plan_load(struct load *load, enum trial_mpi mpi, const struct load_mix *mix,
                      int processes, const struct eval *eval)
{
    *load =
        (struct load){.name = mix->name, .mpi = mpi, .processes = processes, .times = eval->times};
    load->program_count = load_mix_programs(mix);
    for (int i = 0; i < load->program_count; i++)
        load->programs[i] = case_find(mix->programs[i]);
    load->wanted[LOAD_FCFS] = load->wanted[LOAD_SCS] = load->wanted[LOAD_CS_BLOCK] = true;
    load->wanted[LOAD_CS_OWN] = true;
}

static void plan(struct eval *eval)
{
    set = &load_sets[eval->about->set];
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++) {
        if (!eval_wants(eval, mpi))
            continue;
        for (int m = 0; m < MIXES; m++) {
            if (eval->quick && m)
                continue;
            plan_load(&of_mix[mpi][m], mpi, &set->mixes[m], MIX_PROCESSES, eval);
            for (int w = 0; w < LOAD_WAYS; w++)
                of_mix[mpi][m].wanted[w] = !eval->quick || w < 2;
        }
        for (int k = 0; k < LOAD_KINDS && !eval->quick; k++)
            for (int l = 0; l < LEVELS; l++)
                plan_load(&of_kind[mpi][k][l], mpi, &set->kinds[k], levels[l], eval);
    }
}

/* All of them, one after another; NULL at the end. */
static struct load *load_at(int i)
{
    int count = TRIAL_MPIS * MIXES;
    if (i < count)
        return &(&of_mix[0][0])[i];
    i -= count;
    return i < TRIAL_MPIS * LOAD_KINDS * LEVELS ? &(&of_kind[0][0][0])[i] : NULL;
}

static int runs(void)
{
    int count = 0;
    for (int i = 0; load_at(i); i++)
        count += load_runs(load_at(i));
    return count;
}

static void do_round(struct eval *eval, int round)
{
    for (int i = 0; load_at(i); i++) {
        load_round(load_at(i), round);
        if (load_at(i)->others.count)
            bench_add(&eval->others, bench_median(&load_at(i)->others));
    }
}

/* ---- what came of it ---- */

static struct bench_paired response(const struct load *load, int way, int over)
{
    const struct load_result *a = &load->results[way], *b = &load->results[over];
    if (a->late || b->late)
        return (struct bench_paired){.median = 0};
    return bench_paired(&a->response, &b->response);
}

static struct bench_paired time_of(const struct load *load, int program, int way, int over)
{
    const struct load_result *a = &load->results[way], *b = &load->results[over];
    if (a->late || b->late)
        return (struct bench_paired){.median = 0};
    return bench_paired(&a->means[program], &b->means[program]);
}

static void add_ways(struct pleat_page *page, const char *before, const struct load *load,
                     const char *after)
{
    char titles[256];
    int length = snprintf(titles, sizeof(titles), "%s", before);
    for (int w = 0; w < LOAD_WAYS; w++)
        if (load->wanted[w])
            length += snprintf(titles + length, sizeof(titles) - (size_t)length, "|%s%s",
                               load_ways[w].name, after);
    pleat_page_table(page, titles);
}

static int draw_mixes(struct eval *eval, enum trial_mpi mpi, struct pleat_error *err)
{
    static const char *const names[MIXES] = {"w1", "w2", "w3", "w4"};
    double x[MIXES], y[LOAD_WAYS][MIXES];
    struct pleat_plot_series series[LOAD_WAYS];
    size_t count = 0;
    char name[64], caption[256];
    for (int w = 0; w < LOAD_WAYS; w++) {
        if (!of_mix[mpi][0].results[w].response.count)
            continue;
        for (int m = 0; m < MIXES; m++) {
            const struct bench_series *times = &of_mix[mpi][m].results[w].response;
            x[m] = m;
            y[w][m] = times->count ? bench_median(times) : NAN;
        }
        series[count++] = (struct pleat_plot_series){load_ways[w].name, x, y[w], MIXES};
    }
    struct pleat_plot panel = {.title = eval_mpi_title(mpi),
                               .y_label = "response time, s",
                               .style = PLEAT_PLOT_BARS,
                               .series = series,
                               .series_count = count,
                               .x_names = names};
    snprintf(name, sizeof(name), "figure-4-15-%s", trial_mpi_name(mpi));
    snprintf(caption, sizeof(caption),
             "Figure 4.15 anew with %s: response times of workloads of six jobs of %d processes",
             eval_mpi_title(mpi), MIX_PROCESSES);
    return pleat_page_figure(&eval->page, name, caption, &panel, 1, 1, err);
}

static void add_responses(struct eval *eval, enum trial_mpi mpi)
{
    struct pleat_page *page = &eval->page;
    add_ways(page, "workload", &of_mix[mpi][0], ", s");
    for (int m = 0; m < MIXES; m++) {
        pleat_page_cell(page, "%s", set->mixes[m].name);
        for (int w = 0; w < LOAD_WAYS; w++)
            if (of_mix[mpi][0].wanted[w])
                eval_cell_series(page, &of_mix[mpi][m].results[w].response);
    }
}

/* Table 4.6: all jobs of a program in all workloads that have it. */
static double spread_of(enum trial_mpi mpi, const char *program, int way)
{
    double sum = 0;
    int count = 0;
    for (int m = 0; m < MIXES; m++)
        for (int p = 0; p < of_mix[mpi][m].program_count; p++) {
            const struct bench_series *times = &of_mix[mpi][m].results[way].times[p];
            if (strcmp(of_mix[mpi][m].programs[p]->name, program) != 0 || times->count < 2)
                continue;
            sum += bench_variation(times);
            count++;
        }
    return count ? sum / count : NAN;
}

static void add_spreads(struct eval *eval, enum trial_mpi mpi)
{
    const char *const *names = set->programs;
    struct pleat_page *page = &eval->page;
    int lower = 0, compared = 0;
    char text[EVAL_TEXT] = "";
    add_ways(page, "program", &of_mix[mpi][0], "");
    for (size_t p = 0; p < LOAD_MIX_PROGRAMS; p++) {
        pleat_page_cell(page, "%s", names[p]);
        for (int w = 0; w < LOAD_WAYS; w++) {
            double spread = spread_of(mpi, names[p], w);
            if (!of_mix[mpi][0].wanted[w])
                continue;
            if (isfinite(spread))
                pleat_page_cell(page, "%.1f %%", 100 * spread);
            else
                pleat_page_cell(page, "-");
        }
        double scs = spread_of(mpi, names[p], LOAD_SCS);
        double cs = spread_of(mpi, names[p], LOAD_CS_BLOCK);
        if (!isfinite(scs) || !isfinite(cs))
            continue;
        size_t length = strlen(text);
        snprintf(text + length, sizeof(text) - length, "%s%s %.0f and %.0f %%",
                 compared ? ", " : "", names[p], 100 * scs, 100 * cs);
        lower += scs < cs;
        compared++;
    }
    if (compared)
        eval_tell(eval, "Times spread less under SCS than under CS, for each program",
                  "4.6.1, table 4.6",
                  lower == compared ? EVAL_YES
                  : lower == 0      ? EVAL_NO
                                    : EVAL_UNCLEAR,
                  "%s, SCS and CS block: %s", eval_mpi_title(mpi), text);
}

/* Table 4.7: in the workload of mixed communication, over FCFS. */
static void add_fairness(struct eval *eval, enum trial_mpi mpi)
{
    const struct load *load = &of_mix[mpi][MIXES - 1];
    struct pleat_page *page = &eval->page;
    add_ways(page, "program", load, "");
    for (int p = 0; p < load->program_count; p++) {
        pleat_page_cell(page, "%s", load->programs[p]->name);
        for (int w = 0; w < LOAD_WAYS; w++) {
            struct bench_paired ratio = time_of(load, p, w, LOAD_FCFS);
            if (load->wanted[w])
                eval_cell(page, &ratio);
        }
    }
    if (!load->program_count)
        return;
    struct bench_paired like_mg = time_of(load, 0, LOAD_SCS, LOAD_CS_BLOCK);
    char statement[128];
    snprintf(statement, sizeof(statement),
             "In w4 the program that communicates (mg, here %s) is faster under SCS",
             load->programs[0]->name);
    struct bench_paired ep = time_of(load, load->program_count - 1, LOAD_CS_BLOCK, LOAD_SCS);
    eval_tell_ratio(eval, mpi, statement, "4.6.1, table 4.7", eval_below(&like_mg), "over CS block",
                    &like_mg);
    eval_tell_ratio(eval, mpi, "In w4 ep is faster under CS: it hardly ever gives a processor away",
                    "4.6.1, table 4.7", eval_below(&ep), "CS block over SCS", &ep);
}

static void tell_mixes(struct eval *eval, enum trial_mpi mpi)
{
    static const int others[] = {LOAD_CS_OWN, LOAD_CS_BLOCK, LOAD_CS_SB};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct bench_paired ratios[MIXES];
        int count = 0;
        char statement[128];
        for (int m = 0; m < MIXES; m++) {
            ratios[count] = response(&of_mix[mpi][m], LOAD_SCS, others[i]);
            count += ratios[count].ratios.count > 0;
        }
        struct bench_paired mean = eval_mean(ratios, count);
        snprintf(statement, sizeof(statement), "Response times are shorter under SCS than under %s",
                 load_ways[others[i]].name);
        if (count)
            eval_tell_ratio(eval, mpi, statement, "4.6.1, figure 4.15", eval_below(&mean),
                            "mean of w1 to w4", &mean);
    }
}

static int report_mixes(struct eval *eval, enum trial_mpi mpi, struct pleat_error *err)
{
    struct pleat_page *page = &eval->page;
    pleat_page_subheading(page, eval_mpi_title(mpi));
    int rc = draw_mixes(eval, mpi, err);
    if (rc)
        return rc;
    pleat_page_paragraph(page, "Response time of a workload: from its first job's start to its "
                               "last one's end, starting of processes included.");
    add_responses(eval, mpi);
    pleat_page_paragraph(page, "Spread of the times of a program's jobs, standard deviation over "
                               "mean, averaged over the workloads that have it (table 4.6):");
    add_spreads(eval, mpi);
    pleat_page_paragraph(page, "Mean time of a job in w4 over that under FCFS (table 4.7):");
    add_fairness(eval, mpi);
    tell_mixes(eval, mpi);
    return 0;
}

static void add_kinds(struct eval *eval, enum trial_mpi mpi)
{
    struct pleat_page *page = &eval->page;
    pleat_page_table(page, "workload|MPL|FCFS, s|SCS over FCFS|CS block over FCFS|CS own over "
                           "FCFS|SCS over CS block");
    for (int k = 0; k < LOAD_KINDS; k++)
        for (int l = 0; l < LEVELS; l++) {
            const struct load *load = &of_kind[mpi][k][l];
            static const int pairs[][2] = {{LOAD_SCS, LOAD_FCFS},
                                           {LOAD_CS_BLOCK, LOAD_FCFS},
                                           {LOAD_CS_OWN, LOAD_FCFS},
                                           {LOAD_SCS, LOAD_CS_BLOCK}};
            pleat_page_cell(page, "%s", set->kinds[k].name);
            pleat_page_cell(page, "%d", levels[l]);
            eval_cell_series(page, &load->results[LOAD_FCFS].response);
            for (int i = 0; i < 4; i++) {
                struct bench_paired ratio = response(load, pairs[i][0], pairs[i][1]);
                eval_cell(page, &ratio);
            }
        }
}

static void add_low(struct eval *eval, enum trial_mpi mpi)
{
    struct pleat_page *page = &eval->page;
    pleat_page_paragraph(page,
                         "The jobs of the workload \"%s\" apart, SCS over CS block "
                         "(figure 4.18):",
                         set->kinds[LOAD_LOW].name);
    char titles[64];
    snprintf(titles, sizeof(titles), "MPL|%s|ep", set->kinds[LOAD_LOW].programs[0]);
    pleat_page_table(page, titles);
    for (int l = 0; l < LEVELS; l++) {
        pleat_page_cell(page, "%d", levels[l]);
        for (int p = 0; p < 2; p++) {
            struct bench_paired ratio =
                time_of(&of_kind[mpi][LOAD_LOW][l], p, LOAD_SCS, LOAD_CS_BLOCK);
            eval_cell(page, &ratio);
        }
    }
}

static void tell_kinds(struct eval *eval, enum trial_mpi mpi)
{
    /* of the imbalanced workload of low communication the paper (Utrera 2010) describes low load
     * alone */
    static const char *const statements[LOAD_LOW_IMBALANCED] = {
        "Of high communication, balanced: SCS is better than CS at MPL 4, by about 20 %",
        "Of low communication, balanced: they are similar at MPL 2 (within 10 %)",
        "Of high communication, imbalanced: SCS is better than CS"};
    static const char *const where[] = {"figure 4.16", "figure 4.17", "figure 4.19"};
    for (int k = 0; k < LOAD_LOW_IMBALANCED; k++) {
        int level = k == LOAD_LOW ? 0 : 1;
        struct bench_paired ratio = response(&of_kind[mpi][k][level], LOAD_SCS, LOAD_CS_BLOCK);
        char what[64];
        snprintf(what, sizeof(what), "MPL %d: SCS over CS block", levels[level]);
        eval_tell_ratio(eval, mpi, statements[k], where[k],
                        k % 2 ? eval_similar(&ratio) : eval_below(&ratio), what, &ratio);
    }
    for (int p = 0; p < 2; p++) {
        bool is_ep = p == EP;
        struct bench_paired ratio =
            time_of(&of_kind[mpi][LOAD_LOW][LEVELS - 1], p, is_ep ? LOAD_CS_BLOCK : LOAD_SCS,
                    is_ep ? LOAD_SCS : LOAD_CS_BLOCK);
        char statement[128];
        snprintf(statement, sizeof(statement),
                 "Beside ep a program that communicates (sweep3D, here %s) is faster under SCS",
                 set->kinds[LOAD_LOW].programs[0]);
        eval_tell_ratio(eval, mpi,
                        is_ep ? "Among jobs of low communication ep is faster under CS" : statement,
                        "figure 4.18", eval_below(&ratio), "MPL 6:", &ratio);
    }
}

static int report(struct eval *eval, struct pleat_error *err)
{
    pleat_page_heading(&eval->page, "A job with itself, or jobs with one another (figure 4.15, "
                                    "tables 4.6 and 4.7)");
    pleat_page_paragraph(
        &eval->page,
        "Workloads of six jobs of 8 processes, all there at the beginning: %s. FCFS: one job at a "
        "time has both processors. SCS: two at a time, "
        "each a processor of its own; by default, handing on at once (BI), or after polling for 50 "
        "us (SB). CS: two at a time share both processors; each as its MPI does (own: yielding), "
        "sleeping until a message may be there (block), or handing on among its own processes "
        "(SB). What the kernel runs of two jobs is its choice: handing a processor from one job to "
        "another, as the paper's coscheduling did, libpleat-fold does not do, nor was IRIX at "
        "hand. Without folding MPICH's waiting processes do not give way at all, so \"own\" is "
        "not run with it.",
        set->told);
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++) {
        int rc = eval_wants(eval, mpi) ? report_mixes(eval, mpi, err) : 0;
        if (rc)
            return rc;
    }
    pleat_page_heading(&eval->page, "At several multiprogramming levels (figures 4.16 to 4.20)");
    pleat_page_paragraph(
        &eval->page,
        "The same with jobs of 2, 4 and 6 processes%s. As two jobs at a time share 2 processors, "
        "the MPL is the number of processes of a job. The paper's jobs came by a Poisson process "
        "at 20 and 60 %% utilization; these are all there at the beginning, as at high load. Those "
        "that "
        "arrive are on %s.",
        set == &load_sets[LOAD_CLASSES]
            ? " (the next smaller number where a program takes only squares or powers of 2, bt 4 "
              "at least)"
            : "",
        set == &load_sets[LOAD_CLASSES]
            ? "this page, below"
            : "the page [coscheduling-arrivals](../coscheduling-arrivals/page.md)");
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++) {
        if (!eval_wants(eval, mpi))
            continue;
        pleat_page_subheading(&eval->page, eval_mpi_title(mpi));
        add_kinds(eval, mpi);
        add_low(eval, mpi);
        tell_kinds(eval, mpi);
    }
    return 0;
}

const struct eval_part eval_loads = {"loads", plan, runs, do_round, report};

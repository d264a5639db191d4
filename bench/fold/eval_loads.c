/* eval_loads.c - jobs that have processors to themselves against jobs that share them, at several
 * multiprogramming levels, all there at the beginning (Utrera 2010, 4.6.2: figures 4.16 to 4.20).
 */
#include <stdio.h>

#include "eval.h"
#include "eval_keep.h"
#include "loads.h"

#define LEVELS 3
#define EP 1 /* in the loads of low communication */

static const struct load_set *set;
static const int levels[LEVELS] = {2, 4, 6};

static struct load of_kind[TRIAL_MPIS][LOAD_KINDS][LEVELS];

static void plan(struct eval *eval)
{
    static const int ways[] = {LOAD_FCFS, LOAD_SCS, LOAD_CS_BI_RR, LOAD_CS_OWN, LOAD_CS_BLOCK};
    set = &load_sets[eval->about->set];
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++)
        for (int k = 0; k < LOAD_KINDS && eval_wants(eval, mpi) && !eval->quick; k++)
            for (int l = 0; l < LEVELS; l++) {
                struct load *load = &of_kind[mpi][k][l];
                *load = load_of(mpi, &set->kinds[k], levels[l], eval->times);
                for (size_t w = 0; w < sizeof(ways) / sizeof(*ways); w++)
                    load->wanted[ways[w]] = true;
            }
}

/* All of them, one after another; NULL at the end. */
static struct load *load_at(int i)
{
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

static void keep(struct eval_keeper *keeper)
{
    for (int i = 0; load_at(i); i++)
        load_keep(load_at(i), keeper);
}

/* ---- what came of it ---- */

static void add_kinds(struct eval *eval, enum trial_mpi mpi)
{
    struct pleat_page *page = &eval->page;
    pleat_page_table(page, "workload|MPL|FCFS, s|SCS over FCFS|CS BI+RR over FCFS|CS own over "
                           "FCFS|CS block over FCFS|SCS over CS BI+RR");
    for (int k = 0; k < LOAD_KINDS; k++)
        for (int l = 0; l < LEVELS; l++) {
            const struct load *load = &of_kind[mpi][k][l];
            static const int pairs[][2] = {{LOAD_SCS, LOAD_FCFS},
                                           {LOAD_CS_BI_RR, LOAD_FCFS},
                                           {LOAD_CS_OWN, LOAD_FCFS},
                                           {LOAD_CS_BLOCK, LOAD_FCFS},
                                           {LOAD_SCS, LOAD_CS_BI_RR}};
            pleat_page_cell(page, "%s", set->kinds[k].name);
            pleat_page_cell(page, "%d", levels[l]);
            eval_cell_series(page, &load->results[LOAD_FCFS].response);
            for (int i = 0; i < 5; i++) {
                struct bench_paired ratio = load_response(load, pairs[i][0], pairs[i][1]);
                eval_cell(page, &ratio);
            }
        }
}

static void add_low(struct eval *eval, enum trial_mpi mpi)
{
    struct pleat_page *page = &eval->page;
    pleat_page_paragraph(page,
                         "The jobs of the workload \"%s\" apart, SCS over CS BI+RR "
                         "(figure 4.18):",
                         set->kinds[LOAD_LOW].name);
    char titles[64];
    snprintf(titles, sizeof(titles), "MPL|%s|ep", set->kinds[LOAD_LOW].programs[0]);
    pleat_page_table(page, titles);
    for (int l = 0; l < LEVELS; l++) {
        pleat_page_cell(page, "%d", levels[l]);
        for (int p = 0; p < 2; p++) {
            struct bench_paired ratio =
                load_time(&of_kind[mpi][LOAD_LOW][l], p, LOAD_SCS, LOAD_CS_BI_RR);
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
        struct bench_paired ratio = load_response(&of_kind[mpi][k][level], LOAD_SCS, LOAD_CS_BI_RR);
        char what[64];
        snprintf(what, sizeof(what), "MPL %d: SCS over CS BI+RR", levels[level]);
        eval_tell_ratio(eval, mpi, statements[k], where[k],
                        k % 2 ? eval_similar(&ratio) : eval_below(&ratio), what, &ratio);
    }
    for (int p = 0; p < 2; p++) {
        bool is_ep = p == EP;
        struct bench_paired ratio =
            load_time(&of_kind[mpi][LOAD_LOW][LEVELS - 1], p, is_ep ? LOAD_CS_BI_RR : LOAD_SCS,
                      is_ep ? LOAD_SCS : LOAD_CS_BI_RR);
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
    (void)err;
    pleat_page_heading(&eval->page, "At several multiprogramming levels (figures 4.16 to 4.20)");
    pleat_page_paragraph(
        &eval->page,
        "Jobs of 2, 4 and 6 processes. As two jobs at a time share 2 processors, the MPL is the "
        "number of processes of a job. CS is the one that hands processors on at once, round robin "
        "(BI+RR). The paper's jobs came by a Poisson process at 20 and 60 %% utilization; these "
        "are all there at the beginning, as at high load. Those that arrive, and are of the "
        "classes of the paper's programs, are on the page "
        "[coscheduling-arrivals](../coscheduling-arrivals/page.md).");
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

const struct eval_part eval_loads = {"loads", plan, runs, do_round, report, keep};

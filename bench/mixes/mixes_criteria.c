/* mixes_criteria.c - what Swaminathan 2004 states in 4.3, as criteria, round by round. They were
 * written before the page was first run. What is put in (useful sizes, lengths, arrivals) is no
 * finding; no value was chosen after a run. */
#include <stdio.h>
#include <string.h>

#include "mixes.h"

/* Mix 1. */
enum { JOB_0, JOB_1, JOB_2, JOB_3 };

/* Long enough before job 3 comes that a step that was tried is over, and after it. */
static double before_3(const struct live_outcome *of)
{
    return of[JOB_3].submit_s - 0.05;
}

static bool is_at_its_spot(const struct live_outcome *of)
{
    return mixes_size_at(&of[JOB_0], before_3(of)) == 9;
}

static bool others_have_12(const struct live_outcome *of)
{
    return mixes_size_at(&of[JOB_1], before_3(of)) == 12 &&
           mixes_size_at(&of[JOB_2], before_3(of)) == 12;
}

static bool makes_room(const struct live_outcome *of)
{
    double at_s = of[JOB_3].start_s + 0.05;
    return mixes_size_at(&of[JOB_0], at_s) == 9 && mixes_size_at(&of[JOB_1], at_s) == 6 &&
           mixes_size_at(&of[JOB_2], at_s) == 6;
}

static bool has_from(const struct live_outcome *of, double from_s, int least)
{
    for (int i = 0; i < of->piece_count; i++)
        if (of->pieces[i].at_s >= from_s && of->pieces[i].processors >= least)
            return true;
    return mixes_size_at(of, from_s) >= least;
}

static bool grow_back(const struct live_outcome *of)
{
    return has_from(&of[JOB_1], of[JOB_3].end_s, 12) && has_from(&of[JOB_2], of[JOB_3].end_s, 12);
}

/* Mix 2: the thesis's numbers of jobs. */

static bool first_finds_16(const struct live_outcome *of)
{
    double late_s = of[0].start_s + 0.75 * live_run_s(&of[0]);
    return mixes_size_at(&of[0], late_s) == 16;
}

static bool second_stays_at_12(const struct live_outcome *of)
{
    return mixes_size_at(&of[1], of[1].start_s + 0.75 * live_run_s(&of[1])) == 12;
}

static bool short_ones_keep(const struct live_outcome *of)
{
    return live_largest(&of[2]) == 6 && live_largest(&of[3]) == 6;
}

static bool fourth_waits_for_1(const struct live_outcome *of)
{
    return mixes_size_at(&of[4], of[1].end_s - 0.05) <= 4 && live_largest(&of[4]) >= 12;
}

static bool fourth_makes_room(const struct live_outcome *of)
{
    return mixes_size_at(&of[4], of[5].start_s + 0.05) == 6;
}

static bool later_ones_wait_for_4(const struct live_outcome *of)
{
    double before_s = of[4].end_s - 0.05;
    return mixes_size_at(&of[5], before_s) <= 6 && mixes_size_at(&of[6], before_s) <= 4 &&
           has_from(&of[5], of[4].end_s, 9) && has_from(&of[6], of[4].end_s, 6);
}

static bool last_has_all(const struct live_outcome *of)
{
    return live_largest(&of[7]) == 25;
}

static const struct {
    int mix;
    const char *statement, *where;
    bool (*holds)(const struct live_outcome *of);
} events[] = {
    {MIXES_FIRST, "Job 0 finds its sweet spot, 9, and has it when job 3 comes", "4.3.1, figure 9",
     is_at_its_spot},
    {MIXES_FIRST, "Jobs 1 and 2 grow from 4 to 12", "4.3.1, figure 9", others_have_12},
    {MIXES_FIRST, "Jobs 1 and 2 shrink to 6 for job 3, job 0 keeps 9", "4.3.1, figure 9",
     makes_room},
    {MIXES_FIRST, "After job 3 has ended, jobs 1 and 2 grow to 12 again", "4.3.1, figure 9",
     grow_back},
    {MIXES_SECOND, "Job 0 finds its sweet spot, 16, and keeps it", "4.3.2, figure 10",
     first_finds_16},
    {MIXES_SECOND, "Job 1 grows from 9 to 12 and stays there", "4.3.2, figure 10",
     second_stays_at_12},
    {MIXES_SECOND, "Jobs 2 and 3 stay at the size at which they started", "4.3.2, figure 10",
     short_ones_keep},
    {MIXES_SECOND, "Job 4 grows from 4 only when job 1 has ended, then to 12", "4.3.2, figure 10",
     fourth_waits_for_1},
    {MIXES_SECOND, "Job 4 shrinks to 6 for job 5", "4.3.2, figure 10", fourth_makes_room},
    {MIXES_SECOND, "Jobs 5 and 6 grow only when job 4 has ended", "4.3.2, figure 10",
     later_ones_wait_for_4},
    {MIXES_SECOND, "Job 7 grows to its sweet spot when all others are gone", "4.3.2, figure 10",
     last_has_all},
};
#define EVENTS (sizeof(events) / sizeof(events[0]))

void mixes_note(struct mixes_results *results, int mix, const struct live_outcome *outcomes)
{
    for (size_t i = 0; i < EVENTS; i++)
        if (events[i].mix == mix && events[i].holds(outcomes))
            results->held[i]++;
}

/* ---- times ---- */

static struct bench_series sums_of(const struct mixes_cell *cell, int count)
{
    struct bench_series sums = {.count = 0};
    for (int round = 0; round < cell->rounds; round++) {
        double sum = 0;
        for (int j = 0; j < count; j++)
            sum += cell->job_s[MIXES_LIVE][j].values[round];
        bench_add(&sums, sum);
    }
    return sums;
}

static enum eval_answer within_5(const struct bench_paired *ratio)
{
    if (!ratio->ratios.count)
        return EVAL_UNCLEAR;
    if (ratio->lower > 0.95 && ratio->upper < 1.05)
        return EVAL_YES;
    return ratio->lower > 1.05 || ratio->upper < 0.95 ? EVAL_NO : EVAL_UNCLEAR;
}

static void tell_times(struct eval *eval, const struct mixes_results *results)
{
    const struct mixes_cell *cells = results->cells[MIXES_FIRST];
    const char *const where[2] = {"4.3.3, table 3", "4.3.3, table 4"};
    char text[EVAL_RATIO_TEXT];
    for (int table = 0; table < 2; table++) {
        const struct mixes_cell *other = &cells[1 + table];
        struct bench_series mine = sums_of(&cells[0], MIXES_JOBS / 2),
                            its = sums_of(other, MIXES_JOBS / 2);
        struct bench_paired sums = bench_paired(&mine, &its);
        struct bench_paired ends =
            bench_paired(&cells[0].makespan_s[MIXES_LIVE], &other->makespan_s[MIXES_LIVE]);
        eval_tell(eval,
                  table == 0 ? "Jobs spend less time in the system than on 6 processors each"
                             : "Jobs spend about the same time as on 9 processors each (within "
                               "5 %)",
                  where[table], table == 0 ? eval_below(&sums) : within_5(&sums),
                  "resized over static: %s; thesis: %s", eval_ratio(&sums, text),
                  table == 0 ? "0.80" : "1.00");
        eval_tell(eval,
                  table == 0 ? "All are done earlier than on 6 processors each"
                             : "All are done earlier than on 9 processors each, where job 3 has "
                               "to wait",
                  where[table], eval_below(&ends), "resized over static: %s; thesis: %s",
                  eval_ratio(&ends, text), table == 0 ? "0.80" : "0.86");
    }
}

void mixes_tell(struct eval *eval, const struct mixes_results *results)
{
    for (size_t i = 0; i < EVENTS; i++) {
        const struct mixes_cell *cell = &results->cells[events[i].mix][0];
        int held = results->held[i];
        enum eval_answer answer = !cell->rounds          ? EVAL_UNCLEAR
                                  : held == cell->rounds ? EVAL_YES
                                  : held == 0            ? EVAL_NO
                                                         : EVAL_UNCLEAR;
        eval_tell(eval, events[i].statement, events[i].where, answer, "in %d of %d rounds", held,
                  cell->rounds);
    }
    if (results->cells[MIXES_FIRST][0].rounds)
        tell_times(eval, results);
}

/* eval_answers.c - whether something holds, by the bounds of what was measured. */
#include <math.h>

#include "eval.h"

#define ALIKE 1.10

enum eval_answer eval_below(const struct bench_paired *ratio)
{
    if (!ratio->ratios.count)
        return EVAL_UNCLEAR;
    return ratio->upper < 1 ? EVAL_YES : ratio->lower > 1 ? EVAL_NO : EVAL_UNCLEAR;
}

enum eval_answer eval_similar(const struct bench_paired *ratio)
{
    if (!ratio->ratios.count)
        return EVAL_UNCLEAR;
    if (ratio->upper < ALIKE && ratio->lower > 1 / ALIKE)
        return EVAL_YES;
    return ratio->lower > ALIKE || ratio->upper < 1 / ALIKE ? EVAL_NO : EVAL_UNCLEAR;
}

enum eval_answer eval_above(const struct bench_series *series, double limit)
{
    struct bench_paired of = bench_paired_of(series);
    if (!isfinite(of.upper)) /* too few values for bounds */
        return EVAL_UNCLEAR;
    return of.lower > limit ? EVAL_YES : of.upper <= limit ? EVAL_NO : EVAL_UNCLEAR;
}

enum eval_answer eval_not(enum eval_answer answer)
{
    return answer == EVAL_YES ? EVAL_NO : answer == EVAL_NO ? EVAL_YES : EVAL_UNCLEAR;
}

enum eval_answer eval_and(enum eval_answer one, enum eval_answer other)
{
    if (one == EVAL_NO || other == EVAL_NO)
        return EVAL_NO;
    return one == EVAL_YES && other == EVAL_YES ? EVAL_YES : EVAL_UNCLEAR;
}

/* fold_rows.h - for the reports of bench_fold: the rows collected so far, and pieces of lines. */
#ifndef PLEAT_BENCH_FOLD_ROWS_H
#define PLEAT_BENCH_FOLD_ROWS_H

#include "contest.h"

/* A new row, named as printf would; to be filled in. */
struct bench_row *fold_row(const char *unit, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void fold_row_goal(struct bench_row *row, double goal, bool met);
/* "met", "NOT MET", "-" without a goal. */
const char *fold_verdict(const struct bench_row *row);
void fold_rows_print(void);

/* "  0.123 [ 0.120 ..  0.130]", or as wide a blank; "> 12.3" for one that ran out of time. */
void fold_print_series(const struct bench_series *series);
void fold_print_contender(const struct contender *contender, bool cpu);
/* Of a contest the one of that name that ended in time every time; NULL. */
struct contender *fold_in_time(struct contest *contest, const char *name);
/* The median over contests of how many processors others used. */
double fold_others(const struct contest *contests, int count);

#endif

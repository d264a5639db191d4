/* program.h - the adaptation points of a real program, beside reading the clock in it. */
#ifndef PLEAT_BENCH_PROGRAM_H
#define PLEAT_BENCH_PROGRAM_H

#include "report.h"

enum { PROGRAM_ROWS_MAX = 8 };

/* Runs the program under each MPI that there is, `repeats` rounds of `points` points of each kind.
 * Does not return where that fails. */
void program_measure(int repeats, long points);
/* Makes rows, PROGRAM_ROWS_MAX at most, of what a point costs more than reading the clock. Returns
 * their number. */
size_t program_rows(struct bench_row *rows);
void program_report(void);

#endif

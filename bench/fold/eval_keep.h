/* eval_keep.h - rounds that are kept in a file, so that a page that takes hours is made in several
 * goes, and an interrupted one goes on after its last whole round. */
#ifndef PLEAT_BENCH_FOLD_EVAL_KEEP_H
#define PLEAT_BENCH_FOLD_EVAL_KEEP_H

#include <jansson.h>

#include "eval.h"

/* What a part has measured is written to, or read from, an object with a member for each value. */
struct eval_keeper {
    json_t *values;
    bool reads;
    bool strange; /* a value is not there, or is none */
    char within[128];
};

/* What follows is of this: "openmpi w1". */
void eval_keep_within(struct eval_keeper *keeper, const char *format, ...) PLEAT_PRINTF(2, 3);
void eval_keep_series(struct eval_keeper *keeper, const char *name, struct bench_series *series);
void eval_keep_count(struct eval_keeper *keeper, const char *name, int *count);
void eval_keep_number(struct eval_keeper *keeper, const char *name, double *number);
/* What a page says of its contenders; not late_s, which none does. A contest without contenders
 * keeps nothing. */
void eval_keep_contest(struct eval_keeper *keeper, struct contest *contest);

/* Reads what the file keeps into the parts and eval->rounds, after they are planned. No file: no
 * rounds. PLEAT_E_INVALID: it is of another page, of other options or of another machine, or is no
 * such file; PLEAT_E_UNSUPPORTED: a part of the page keeps nothing;
 * PLEAT_E_BUSY: another measurement keeps rounds in that directory. what: all that the rounds
 * depend on. */
int eval_keep_read(struct eval *eval, const char *path, const char *what, struct pleat_error *err);
/* Replaces the file: after each round. */
int eval_keep_write(struct eval *eval, const char *path, const char *what, struct pleat_error *err);

#endif

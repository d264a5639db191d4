/* trial_parts.h - what the files of a trial share: trial.c starts and watches runs, trial_command.c
 * has the commands, trial_left.c reads what a run has left. */
#ifndef PLEAT_BENCH_FOLD_TRIAL_PARTS_H
#define PLEAT_BENCH_FOLD_TRIAL_PARTS_H

#include <sys/types.h>

#include "trial.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct trial_running {
    const struct trial_setup *setup; /* NULL: this place is free */
    struct trial_result *result;
    pid_t pid;
    int pidfd, output, times, rate, fold, samples;
    bool ended;
    int64_t begun_us;
};

/* ---- trial_command.c ---- */

/* In a new process: becomes the program of a run; what it prints goes to `output`. pool: of all
 * folded runs that share processors in time. */
_Noreturn void trial_become(const struct trial_running *run, int output, int pool);
/* Whether it is folded, and shares processors in time with others. */
bool trial_shares_time(const struct trial_setup *setup);
bool trial_needs_daemon(const struct trial_setup *setup);
/* A command of pleat; what it prints goes to `output`, or nowhere (-1). */
void trial_ask_daemon(int output, const char *const *argv);

/* ---- trial_left.c ---- */

/* Reads what a run that has ended has left, and closes its files. Ends the benchmark where it has
 * failed. */
void trial_settle(struct trial_running *run);

#endif

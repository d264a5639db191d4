/* trial.h - one run of an MPI program on given CPUs, as its MPI runs it or folded, and its times.
 * Several run at the
 * same time where that is what is measured. A run that takes too long is ended;
 * nothing is left of it, neither processes nor files. One set of runs at a time.
 */
#ifndef PLEAT_BENCH_FOLD_TRIAL_H
#define PLEAT_BENCH_FOLD_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAL_WORDS_MAX 96
#define TRIAL_TEXT 16384
#define TRIAL_REPORT 65536

enum trial_mpi { TRIAL_OPENMPI, TRIAL_MPICH, TRIAL_MPIS };

enum trial_way {
    TRIAL_DEFAULT, /* as the MPI does without being told anything */
    TRIAL_YIELD,   /* told to yield when it waits; MPICH cannot be told so */
    TRIAL_FOLDED,  /* with libpleat-fold */
    TRIAL_PLEAT,   /* by `pleat run`: also with the detector */
    TRIAL_MIX      /* several that arrive over time, by `pleat mix` */
};

struct trial_setup {
    enum trial_mpi mpi;
    enum trial_way way;
    const char *settings;    /* of folding, as for `pleat run --fold`; NULL: the defaults */
    const char *const *plan; /* of folding: "2s=1", 1 processor from 2 s on; NULL-terminated */
    int processes;
    const char *cpus;           /* "0,1": nothing of this run is on other CPUs */
    const char *program;        /* of apps/ */
    const char *const *options; /* of the program; NULL-terminated */
    bool rate;                  /* its iterations are stamped */
    bool samples;               /* folded: what its processes do is looked at every 10 ms */
    bool timed_mpi;             /* not folded: it says how long it was in MPI (mpi_time.c) */
    bool untimed; /* it does not tell when its part began and ended, and all that is told of that is
                     not a number */
    double limit_s; /* a run that takes longer than that has timed out */
    /* Of a mix, in place of a program: the daemon's configuration, the mix, and options of
     * `pleat mix` in `options`. */
    const char *site, *mix;
};

enum trial_outcome { TRIAL_DONE, TRIAL_TIMED_OUT, TRIAL_FAILED };

struct trial_result {
    enum trial_outcome outcome;
    double elapsed_s, cpu_s; /* from the start of mpirun to its end, with all its processes */
    /* The part between MPI_Init and MPI_Finalize: the slowest rank's, and of all ranks together. */
    double own_elapsed_s, own_cpu_s;
    double own_begun_s, own_ended_s; /* on the monotonic clock */
    double begun_s;                  /* on the monotonic clock: when it was started */
    char output[TRIAL_TEXT];         /* of the program and of mpirun */
    char fold[TRIAL_REPORT];         /* folded: what fold-run says of it, JSON */
    char *report;                    /* of a mix: what `pleat mix` says of it, JSON */
    double *stamps; /* rate: seconds on the monotonic clock, one for each iteration */
    size_t stamp_count;
    char *samples; /* as fold-run writes them (--samples); NULL: none */
};

/* Whether programs can be run with this MPI here, and folded. */
bool trial_has(enum trial_mpi mpi);
/* "openmpi", "mpich". */
const char *trial_mpi_name(enum trial_mpi mpi);
/* The folder of its programs. */
const char *trial_apps(enum trial_mpi mpi);
/* Once, before the others; trial_finish at the end in any case, also when interrupted. */
void trial_init(void);
void trial_finish(void);

/* For who waits for something else than a trial: whether the benchmark was interrupted; then it is
 * to end what it has begun, and call the other one, which ends the benchmark. */
bool trial_is_interrupted(void);
void trial_stop_if_interrupted(void);
/* Ends the benchmark with 1, saying why; nothing is left of its runs. */
_Noreturn void trial_give_up(const char *what, const char *why);

/* Starts a program; others may be running. Both are borrowed until trial_next has returned the
 * result, which is to be released then. Exits the benchmark, saying why, when it cannot. */
void trial_start(const struct trial_setup *setup, struct trial_result *result);
/* Waits until a run has ended, and returns its result. NULL: none is under way. A program that
 * fails ends the benchmark, which says why: only running out of time is an outcome; then all that
 * run are ended. */
struct trial_result *trial_next(void);
/* How many processors others used (not the hogs) since a program was started while none ran; to be
 * asked when none runs again. */
double trial_others(void);
/* One program alone. Returns trial_others. */
double trial_once(const struct trial_setup *setup, struct trial_result *result);
/* Likewise, and again where the machine stood still (steady.h). */
double trial_run(const struct trial_setup *setup, struct trial_result *result);
void trial_release(struct trial_result *result);

/* Folded: the share of processor time that waiting for the busiest process wasted (Utrera 2010,
 * 4.3.3, read as 1 - sum / (n max)). NAN: not known. */
double trial_idleness(const struct trial_result *result);
/* A number of result.fold, "switches" for example. NAN: not there. */
double trial_fold_number(const struct trial_result *result, const char *name);
/* Whether a string of result.fold has this value: "queue", "global" for example. */
bool trial_fold_is(const struct trial_result *result, const char *name, const char *text);

#endif

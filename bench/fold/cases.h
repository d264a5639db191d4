/* cases.h - what bench_fold measures: programs, processors, and the ways to run them. */
#ifndef PLEAT_BENCH_FOLD_CASES_H
#define PLEAT_BENCH_FOLD_CASES_H

#include "contest.h"

#define CASE_PROCESSES 8
#define CASE_PROCESSORS_MAX 2

/* How the work is kept the same with another number of processes. */
enum case_scale {
    CASE_FIXED,      /* the program divides it among them */
    CASE_ITERATIONS, /* it is per process: fewer processes get more iterations */
    CASE_SIZE        /* it is per process: fewer processes get a larger size */
};

enum case_ranks { CASE_ANY, CASE_SQUARES, CASE_POWERS };

struct case_program {
    const char *name;    /* in the tables: "send.50x2" */
    const char *program; /* of apps/ */
    bool communicates;   /* mostly */
    enum case_scale scale;
    int iterations, work, size; /* with CASE_PROCESSES processes; 0: the program's own */
    int heavy, factor;          /* `heavy` percent of the processes compute `factor` times as much;
                                 * or 0 */
    const char *where;          /* which processes are heavy: "first", "spread" */
    int tokens;                 /* of ring */
    const char *edition;        /* "small": of programs that have two sizes; NULL */
    enum case_ranks ranks;      /* numbers of processes that the program takes */
};

extern const struct case_program case_programs[]; /* the usual programs, balanced but for one */
extern const int case_program_count;
extern const struct case_program case_imbalanced[]; /* imbalanced programs, and balanced ones to
                                                     * compare them with */
extern const int case_imbalanced_count;

extern const struct case_program case_classes[]; /* each of the class of a published program */
extern const int case_class_count;

/* The largest number of processes that the program takes, at most `wanted`; of squares 4 at least,
 * since a single process would not communicate, and could not use two processors. */
int case_processes(const struct case_program *program, int wanted);
/* The program of that name of any list; NULL: there is none. */
const struct case_program *case_find(const char *name);

/* As arguments of the program, so that all processes together do the same whatever their number;
 * kept until the end. times: as often as usually. */
const char *const *case_options(const struct case_program *program, int processes, double times);
#define CASE_QUICK 0.01

/* Folded, as the MPI does, told to yield, and unfolded with as many processes as processors. */
void case_slowdown(struct contest *contest, enum trial_mpi mpi, int processors,
                   const struct case_program *program, double times);
/* The same ways but for the last one, while something else computes on the same processors. */
void case_hogged(struct contest *contest, enum trial_mpi mpi, int processors,
                 const struct case_program *program, double times);
/* Local queues, the global one, and what the agent's detector chose. */
void case_queues(struct contest *contest, enum trial_mpi mpi, const struct case_program *program,
                 double times);

#endif

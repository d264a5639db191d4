/* loads.h - closed workloads: a list of jobs, two of them at a time, and the ways to share the
 * processors among them (Utrera 2010, 4.5.1 and 4.6). */
#ifndef PLEAT_BENCH_FOLD_LOADS_H
#define PLEAT_BENCH_FOLD_LOADS_H

#include "cases.h"

#define LOAD_PROGRAMS 4 /* at most */
#define LOAD_JOBS 6
#define LOAD_WAYS 7

/* Programs of a workload, whose jobs take turns. */
struct load_mix {
    const char *name, *programs[LOAD_PROGRAMS + 1]; /* NULL-terminated */
};

int load_mix_programs(const struct load_mix *mix);

/* High and low communication, balanced and not (tables 4.8 and 4.9). */
enum { LOAD_HIGH, LOAD_LOW, LOAD_HIGH_IMBALANCED, LOAD_LOW_IMBALANCED, LOAD_KINDS };
/* In each of low communication the second program is ep; in w4 it is the last one. */
enum { LOAD_MIXES = 4, LOAD_MIX_PROGRAMS = 5 };

/* What the paper's workloads are made of here: w1 to w4, and those by kind. */
struct load_set {
    struct load_mix mixes[LOAD_MIXES], kinds[LOAD_KINDS];
    const char *programs[LOAD_MIX_PROGRAMS]; /* of w1 to w4, each once */
    const char *told;                        /* of what w1 to w4 consist: after "w1 to w4: " */
};
/* Synthetic programs, and programs that are each of the class of one of the paper's. */
enum { LOAD_SYNTHETIC, LOAD_CLASSES, LOAD_SETS };
extern const struct load_set load_sets[LOAD_SETS];

struct load_way {
    const char *name; /* "SCS BI" */
    enum { LOAD_ALONE, LOAD_PARTITION, LOAD_SHARED } where;
    enum trial_way way;
    const char *settings;
};

/* First come, first served: one job at a time, on both processors. Self-coscheduling (SCS): two at
 * a time, each on a processor of its own. Coscheduling (CS): two at a time, both on both. */
enum { LOAD_FCFS, LOAD_SCS, LOAD_SCS_BI, LOAD_SCS_SB, LOAD_CS_OWN, LOAD_CS_BLOCK, LOAD_CS_SB };
extern const struct load_way load_ways[LOAD_WAYS];

struct load_result {
    struct bench_series response;             /* the first job's start to the last one's end */
    struct bench_series cpu;                  /* of all its processes after MPI_Init */
    struct bench_series times[LOAD_PROGRAMS]; /* of each job: MPI_Init to MPI_Finalize */
    struct bench_series means[LOAD_PROGRAMS]; /* one for each round */
    int late;
};

struct load {
    const char *name;
    enum trial_mpi mpi;
    int processes; /* of each job, where its program runs with that number */
    double times;  /* of the usual work */
    int program_count;
    const struct case_program *programs[LOAD_PROGRAMS];
    bool wanted[LOAD_WAYS];
    struct load_result results[LOAD_WAYS];
    struct bench_series others;
};

void load_round(struct load *load, int round);
int load_runs(const struct load *load);

#endif

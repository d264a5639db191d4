/* loads.h - closed workloads: a list of jobs, two of them at a time, and the ways to share the
 * processors among them (Utrera 2010, 4.5.1 and 4.6). */
#ifndef PLEAT_BENCH_FOLD_LOADS_H
#define PLEAT_BENCH_FOLD_LOADS_H

#include "cases.h"
#include "paired.h"

#define LOAD_PROGRAMS 4 /* at most */
#define LOAD_JOBS 6

struct eval_keeper;

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
    const char *name; /* "SCS BI+RR" */
    const char *row;  /* of table 4.4; NULL: it is in none */
    enum { LOAD_ALONE, LOAD_PARTITION, LOAD_SHARED } where;
    enum trial_way way;
    const char *settings;
};

/* The ways, in three groups.
 *
 * First come, first served: one job at a time, on both processors. SCS as Pleat does it without
 * being told anything.
 *
 * The ten rows of table 4.4 (Utrera 2010), in their order. Coscheduling (CS), and the first two:
 * two jobs at a time, both on both processors (time-sharing); a process hands its processor to the
 * next one of its queue, of either job. The second is the operating system's scheduler: here
 * Linux's, not IRIX's. Virtual malleability (self-coscheduling, SCS): two at a time, each on a
 * processor of its own (space-sharing). SB: spin blocking, BI: blocking immediately; RR: round
 * robin, Msg: unconsumed messages.
 *
 * Where the table says "round-robin / sender" and "local / global": the second of each. And what
 * the kernel makes of two jobs: "own", as their MPI waits; "block": processes sleep. */
enum load_ways {
    LOAD_FCFS,
    LOAD_SCS,
    LOAD_BOOST,
    LOAD_KERNEL,
    LOAD_CS_SB_RR,
    LOAD_CS_SB_MSG,
    LOAD_CS_BI_RR,
    LOAD_CS_BI_MSG,
    LOAD_SCS_SB_RR,
    LOAD_SCS_SB_MSG,
    LOAD_SCS_BI_RR,
    LOAD_SCS_BI_MSG,
    LOAD_CS_BI_SENDER,
    LOAD_SCS_BI_SENDER,
    LOAD_CS_OWN,
    LOAD_CS_BLOCK,
    LOAD_WAYS
};
#define LOAD_ROWS_FIRST LOAD_BOOST
#define LOAD_ROWS_LAST LOAD_SCS_BI_MSG
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

/* A load of this workload, with no way wanted yet. */
struct load load_of(enum trial_mpi mpi, const struct load_mix *mix, int processes, double times);
void load_round(struct load *load, int round);
int load_runs(const struct load *load);
/* Each value that was measured of it. */
void load_keep(struct load *load, struct eval_keeper *keeper);
/* Ratios by round, without any where a round took too long: of the workload's response times; of
 * the mean times of a program's jobs. */
struct bench_paired load_response(const struct load *load, enum load_ways way, enum load_ways over);
struct bench_paired load_time(const struct load *load, int program, enum load_ways way,
                              enum load_ways over);

#endif

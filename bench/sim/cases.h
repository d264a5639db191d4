/* cases.h - the workloads of bench_sim, and one run of each kind over them. */
#ifndef PLEAT_BENCH_SIM_CASES_H
#define PLEAT_BENCH_SIM_CASES_H

#include "sim/sim.h"

enum kind { KIND_FCFS, KIND_EASY, KIND_MALLEABLE, KIND_COUNT };

/* Generated logs, at 70 % load of 1,024 processors. POISSON: independent draws, so that a longer
 * log is more of the same; queues stay short. LUBLIN: the Lublin-Feitelson model, where FCFS cannot
 * do 70 % and its queue is the longer, the longer the log. */
enum model { MODEL_POISSON, MODEL_LUBLIN, MODEL_COUNT };

extern const char *const kind_names[KIND_COUNT + 1]; /* with NULL at the end */
extern const char *const model_names[MODEL_COUNT];

/* A workload and what its runs need. */
struct bench_case {
    struct pleat_workload workload;
    int32_t machine;
    struct pleat_platform platform;
    struct pleat_sim_outcome *outcomes;
    int64_t *starts; /* the bare loop's */
    struct pleat_sim_totals totals;
};

/* Ends the program with a text for its user. */
_Noreturn void case_fail(const char *what, const char *why);

/* Jobs of run time 0 are left out. */
void case_read(struct bench_case *bench, const char *path, int32_t machine);
void case_generate(struct bench_case *bench, enum model model, size_t jobs);
/* All jobs become malleable: a quarter to twice the size, Amdahl 2 %. */
void case_convert(struct bench_case *bench);
void case_finish(struct bench_case *bench);

/* Runs the simulator. */
void case_simulate(struct bench_case *bench, enum kind kind);
/* Runs the bare loop of FCFS or EASY. */
void case_bare(struct bench_case *bench, enum kind kind);
/* Fails where the last two runs did not start every job at the same time. */
void case_compare(const struct bench_case *bench, const char *name);

#endif

/* pause_report.h - what bench_pause measured, and how it says so. */
#ifndef PLEAT_BENCH_PAUSE_REPORT_H
#define PLEAT_BENCH_PAUSE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "report.h"

#define STEPS 4
#define STATES 7

extern const int sizes[STEPS + 1];
extern const uint64_t states[STATES]; /* bytes; the first is what the others are compared with */

/* A way of resizing. */
struct way {
    const char *name, *text;
    const char *loop, *heat; /* programs; NULL: there is no such MPI */
    bool warm, mpich;
    struct bench_series pause_ms[STATES][STEPS + 1]; /* the last: all steps together */
    struct bench_series iteration_ms[STEPS]; /* mean before that step, with the smallest state */
    struct bench_series without, during;     /* sweeps a second of the rigid job */
};

/* A table, or the rows as JSON, of what was measured. */
void report(const struct way *ways, int count, bool json);

#endif

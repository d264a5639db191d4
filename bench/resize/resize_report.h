/* resize_report.h - what bench_resize measured, and how it says so. */
#ifndef PLEAT_BENCH_RESIZE_REPORT_H
#define PLEAT_BENCH_RESIZE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report.h"

#define STEPS 4
#define TOTAL STEPS /* the place of the sum in arrays of steps */

extern const int sizes[STEPS + 1];

enum mpi { OPENMPI, MPICH, MPIS };

/* With one MPI: relaunching by Pleat, cold and warm, and stopping and starting again without it.
 * Milliseconds. */
struct ways {
    const char *const *pleat;      /* its command; a NULL in it: this MPI is not there */
    const char *const *pleat_warm; /* likewise, for warm relaunches */
    const char *stopping;          /* the program of the latter */
    struct bench_series again[STEPS + 1], warm[STEPS + 1], stop[STEPS + 1];
    struct bench_series save[STEPS], processes[STEPS], load[STEPS];
};

/* Milliseconds, by step and in total. */
struct subject {
    const char *name;
    const char *const *pleat;
    const char *const *bare;
    const char *bytes, *rows; /* of the program that is stopped */
    size_t warm_bytes;        /* of memory that the machine is to have at hand */
    struct bench_series resize[STEPS + 1], plain[STEPS + 1];
    struct bench_series processes[STEPS], move[STEPS], wait[STEPS], save[STEPS];
    struct bench_series copy[STEPS], copy_fresh[STEPS]; /* memcpy of as many bytes */
    uint64_t moved[STEPS];                              /* bytes that change their rank */
    struct ways ways[MPIS];
};

/* A table, or the rows as JSON. quiet_ns: of an adaptation point at which nothing happens. */
void report(const struct subject *loop, const struct subject *heat,
            const struct bench_series *quiet_ns, bool json);

#endif

/* report.h - what the benchmarks share: series of measurements, and rows in JSON. */
#ifndef PLEAT_BENCH_REPORT_H
#define PLEAT_BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#define BENCH_REPEATS_MAX 200

struct bench_series {
    double values[BENCH_REPEATS_MAX];
    int count;
};

/* Ignored when the series is full. */
void bench_add(struct bench_series *series, double value);
/* at: 0 the smallest, 0.5 the median, 1 the largest; between two values, linearly. 0 if empty. */
double bench_quantile(const struct bench_series *series, double at);
double bench_median(const struct bench_series *series);

/* One row of the output. Names are stable: programs read them. */
struct bench_row {
    char name[64];
    double value;
    const char *unit;
    double baseline; /* of the same run, in the same unit; 0: none */
    double goal;     /* 0: none */
    bool met;        /* only where there is a goal */
};

/* The value over the baseline; 0 without one. */
double bench_ratio(const struct bench_row *row);

/* Prints one JSON array, a row on each line, the brackets on lines of their own. */
void bench_print_json(const struct bench_row *rows, size_t count);

#endif

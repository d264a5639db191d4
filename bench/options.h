/* options.h - command lines of the benchmarks. */
#ifndef PLEAT_BENCH_OPTIONS_H
#define PLEAT_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* An option; of number, text and flag, which get what is given, one is set. */
struct bench_option {
    const char *name; /* --name */
    int *number;      /* from least to most */
    int least, most;
    const char **text; /* one of `choices`, which end with NULL */
    const char *const *choices;
    bool *flag;
};

/* Reads a command line. With --help prints the usage, and exits; with anything else that is not as
 * the options say, says so, and exits with 2. */
void bench_options(int argc, char **argv, const char *usage, const struct bench_option *options,
                   size_t count);

#endif

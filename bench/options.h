/* options.h - command lines of the benchmarks. */
#ifndef PLEAT_BENCH_OPTIONS_H
#define PLEAT_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* An option; of number, real, text, list and flag, which get what is given, one is set. */
struct bench_option {
    const char *name; /* --name */
    int *number;      /* from least to most */
    int least, most;
    double *real; /* from `from` to `to` */
    double from, to;
    const char **text;          /* one of `choices`; without choices any text */
    const char **list;          /* some of `choices`, separated by commas */
    const char *const *choices; /* end with NULL */
    bool *flag;
};

/* Reads a command line. With --help prints the usage, and exits; with anything else that is not as
 * the options say, says so, and exits with 2. */
void bench_options(int argc, char **argv, const char *usage, const struct bench_option *options,
                   size_t count);

/* Is a word on a list as bench_option.list gets it? NULL is the list of all words. */
bool bench_is_listed(const char *list, const char *word);

#endif

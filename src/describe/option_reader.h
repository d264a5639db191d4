/* option_reader.h - reads options one by one, in the same way and with the same messages in every
 * place: a command line, a line of a batch script, a line of a mix. */
#ifndef PLEAT_DESCRIBE_OPTION_READER_H
#define PLEAT_DESCRIBE_OPTION_READER_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define PLEAT_OPTIONS_MAX 80

enum { PLEAT_OPTION_END = -1 };

/* Reads options up to "--", wherever they stand; with in_front only those before the first word
 * that is no option. */
struct pleat_option_reader {
    int argc;
    char **argv; /* borrowed; reordered unless in_front */
    struct option table[PLEAT_OPTIONS_MAX];
    char shorts[64]; /* as for getopt */
    bool in_front;
    int first; /* after PLEAT_OPTION_END: argv[first] is the first argument */
};

/* Begins to read. `own` ends with a zeroed entry (NULL: none); the values of its entries are above
 * 0. argv[0] is ignored. Uses getopt, so only one reader can be in use at a time. */
void pleat_option_reader_init(struct pleat_option_reader *reader, int argc, char **argv,
                              const struct option *own, const char *shorts);
/* Adds `count` options to those of the reader. */
void pleat_option_reader_add(struct pleat_option_reader *reader, const struct option *more,
                             size_t count, const char *shorts);
/* Begins again with the first option. */
void pleat_option_reader_restart(struct pleat_option_reader *reader);
/* Returns the next option's value, with its argument in optarg, or PLEAT_OPTION_END.
 * PLEAT_E_INVALID (also in *err): a word is no known option. */
int pleat_option_reader_next(struct pleat_option_reader *reader,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

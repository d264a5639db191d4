/* option_reader.h - options read one by one, the same way and with the same messages in every place
 * that has some: a command line, a line of a batch script, a line of a mix. */
#ifndef PLEAT_DESCRIBE_OPTION_READER_H
#define PLEAT_DESCRIBE_OPTION_READER_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define PLEAT_OPTIONS_MAX 64

enum { PLEAT_OPTION_END = -1 };

/* Reads options: all up to "--"; with in_front only those before the first word that is none. */
struct pleat_option_reader {
    int argc;
    char **argv; /* borrowed; brought into another order unless in_front */
    struct option table[PLEAT_OPTIONS_MAX];
    char shorts[64]; /* as for getopt */
    bool in_front;
    int first; /* after PLEAT_OPTION_END: argv[first] is the first argument */
};

/* `own` ends with a zeroed entry (may be NULL), its values are above 0. argv[0] is not looked at.
 * It reads with getopt, so one reader at a time. */
void pleat_option_reader_init(struct pleat_option_reader *reader, int argc, char **argv,
                              const struct option *own, const char *shorts);
/* Adds `count` options to them. */
void pleat_option_reader_add(struct pleat_option_reader *reader, const struct option *more,
                             size_t count, const char *shorts);
/* The next option is the first one again. */
void pleat_option_reader_restart(struct pleat_option_reader *reader);
/* The next option's value, with its argument in optarg; or PLEAT_OPTION_END. What is no option:
 * PLEAT_E_INVALID, which *err has, too. */
int pleat_option_reader_next(struct pleat_option_reader *reader,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 8 };

static bool read_number(const struct bench_option *option, const char *program, const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (end != text && !*end && number >= option->least && number <= option->most) {
        *option->number = (int)number;
        return true;
    }
    fprintf(stderr, "%s: --%s wants a whole number from %d to %d, not '%s'\n", program,
            option->name, option->least, option->most, text);
    return false;
}

static bool read_text(const struct bench_option *option, const char *program, const char *text)
{
    for (const char *const *choice = option->choices; *choice; choice++) {
        if (strcmp(*choice, text) == 0) {
            *option->text = *choice;
            return true;
        }
    }
    fprintf(stderr, "%s: --%s wants", program, option->name);
    for (const char *const *choice = option->choices; *choice; choice++)
        fprintf(stderr, "%s %s", choice == option->choices ? "" : choice[1] ? "," : " or", *choice);
    fprintf(stderr, ", not '%s'\n", text);
    return false;
}

static bool read_option(const struct bench_option *option, const char *program)
{
    if (option->number)
        return read_number(option, program, optarg);
    if (option->text)
        return read_text(option, program, optarg);
    *option->flag = true;
    return true;
}

void bench_options(int argc, char **argv, const char *usage, const struct bench_option *options,
                   size_t count)
{
    struct option table[OPTIONS_MAX + 2] = {{"help", no_argument, NULL, 'h'}};
    const char *slash = strrchr(argv[0], '/'), *program = slash ? slash + 1 : argv[0];
    if (count > OPTIONS_MAX)
        abort();
    for (size_t i = 0; i < count; i++)
        table[i + 1] = (struct option){
            options[i].name, options[i].flag ? no_argument : required_argument, NULL, (int)i};
    for (int found; (found = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        if (found == 'h' || found == '?') {
            fputs(usage, found == 'h' ? stdout : stderr);
            exit(found == 'h' ? 0 : 2);
        }
        if (!read_option(&options[found], program))
            exit(2);
    }
    if (optind < argc) {
        fprintf(stderr, "%s: '%s' is no option\n%s", program, argv[optind], usage);
        exit(2);
    }
}

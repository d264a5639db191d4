#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 16 };

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

static bool read_real(const struct bench_option *option, const char *program, const char *text)
{
    char *end;
    double real = strtod(text, &end);
    if (end != text && !*end && real >= option->from && real <= option->to) {
        *option->real = real;
        return true;
    }
    fprintf(stderr, "%s: --%s wants a number from %.15g to %.15g, not '%s'\n", program,
            option->name, option->from, option->to, text);
    return false;
}

static bool is_choice(const struct bench_option *option, const char *word, size_t length)
{
    for (const char *const *choice = option->choices; *choice; choice++)
        if (strlen(*choice) == length && !strncmp(*choice, word, length))
            return true;
    return false;
}

static bool refuse(const struct bench_option *option, const char *program, const char *text)
{
    fprintf(stderr, "%s: --%s wants", program, option->name);
    for (const char *const *choice = option->choices; *choice; choice++)
        fprintf(stderr, "%s %s", choice == option->choices ? "" : choice[1] ? "," : " or", *choice);
    fprintf(stderr, "%s, not '%s'\n", option->list ? ", or several of these with commas" : "",
            text);
    return false;
}

static bool read_text(const struct bench_option *option, const char *program, const char *text)
{
    if (option->choices && !is_choice(option, text, strlen(text)))
        return refuse(option, program, text);
    *option->text = text;
    return true;
}

static bool read_list(const struct bench_option *option, const char *program, const char *text)
{
    for (const char *word = text;; word++) {
        size_t length = strcspn(word, ",");
        if (!is_choice(option, word, length))
            return refuse(option, program, text);
        word += length;
        if (!*word)
            break;
    }
    *option->list = text;
    return true;
}

bool bench_is_listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strcspn(at, ",") == length && !strncmp(at, word, length))
            return true;
    }
    return !list;
}

static bool read_option(const struct bench_option *option, const char *program)
{
    if (option->number)
        return read_number(option, program, optarg);
    if (option->real)
        return read_real(option, program, optarg);
    if (option->text)
        return read_text(option, program, optarg);
    if (option->list)
        return read_list(option, program, optarg);
    *option->flag = true;
    return true;
}

void bench_options(int argc, char **argv, const char *usage, const struct bench_option *options,
                   size_t count)
{
    struct option table[OPTIONS_MAX + 2] = {{"help", no_argument, NULL, 'h'}};
    const char *slash = strrchr(argv[0], '/'), *program = slash ? slash + 1 : argv[0];
#ifdef BENCH_UNTUNED
    fprintf(stderr,
            "%s: linked without optimization across files: slower than what is measured in "
            "bench/README.md. bench/run builds it with, or -DPLEAT_BENCH_LTO=ON\n",
            program);
#endif
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

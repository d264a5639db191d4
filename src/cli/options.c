/* options.c - reading command lines, the same way and with the same messages everywhere. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"

enum { OPTION_DIR = 1000, OPTION_NO_COLOR, OPTION_JSON, OPTION_HELP };

static const struct option common[] = {
    {"help", no_argument, NULL, OPTION_HELP},
    {"dir", required_argument, NULL, OPTION_DIR},
    {"no-color", no_argument, NULL, OPTION_NO_COLOR},
    {"no-colour", no_argument, NULL, OPTION_NO_COLOR},
    {"json", no_argument, NULL, OPTION_JSON}, /* last: not every command has it */
};

#define COMMON_COUNT (sizeof(common) / sizeof(common[0]))

void pleat_options_init(struct pleat_options *options, const struct pleat_command *command,
                        int argc, char **argv, const struct option *own, const char *shorts)
{
    *options = (struct pleat_options){.command = command,
                                      .argc = argc,
                                      .argv = argv,
                                      .shorts = shorts ? shorts : "",
                                      .in_front = command->program};
    size_t count = 0;
    for (; own && own->name && count < PLEAT_OPTIONS_MAX - COMMON_COUNT - 1; own++)
        options->table[count++] = *own;
    for (size_t i = 0; command->name && i < COMMON_COUNT - !command->json; i++)
        options->table[count++] = common[i];
    optind = 0; /* glibc: begin anew */
}

/* What an option of a batch system or of an mpirun is called here; NULL: nothing that the command
 * has. The nearest word would be another thing (--asks for --ntasks). */
static const char *called_here(const char *name, const char *const *names, size_t count)
{
    static const char *const called[][2] = {{"ntasks", "processors"},   {"np", "processors"},
                                            {"procs", "processors"},    {"job-name", "name"},
                                            {"walltime", "time-limit"}, {"workdir", "chdir"},
                                            {"begin-time", "begin"},    {"stdin", "input"},
                                            {"stdout", "output"},       {"stderr", "error"}};
    for (size_t i = 0; i < sizeof(called) / sizeof(called[0]); i++)
        for (size_t n = 0; !strcmp(name, called[i][0]) && n < count; n++)
            if (!strcmp(names[n], called[i][1]))
                return names[n];
    return NULL;
}

static int unknown(const struct pleat_options *options, const char *given, struct pleat_error *err)
{
    const char *names[PLEAT_OPTIONS_MAX];
    size_t count = 0, matches = 0, length = strcspn(given + 2, "=");
    for (const struct option *o = options->table; o->name; o++) {
        names[count++] = o->name;
        matches += !strncmp(o->name, given + 2, length);
    }
    if (matches > 1)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "option '%.*s' is ambiguous: write more of its name",
                               (int)length + 2, given);
    char name[64];
    snprintf(name, sizeof(name), "%.*s", (int)length, given + 2);
    const char *near = called_here(name, names, count);
    if (!near)
        near = pleat_nearest(name, names, count);
    return pleat_error_set(err, PLEAT_E_INVALID, "unknown option '--%s'%s%s%s", name,
                           near ? "; did you mean '--" : "", near ? near : "", near ? "'?" : "");
}

static int bad_option(const struct pleat_options *options, int code, struct pleat_error *err)
{
    const char *given = options->argv[optind > 0 ? optind - 1 : 0];
    if (code == ':' && optopt > 0 && optopt < 256)
        return pleat_error_set(err, PLEAT_E_INVALID, "option '-%c' needs a value", optopt);
    if (code == ':')
        return pleat_error_set(err, PLEAT_E_INVALID, "option '%s' needs a value", given);
    if (optopt == 0)
        return unknown(options, given, err);
    for (const struct option *o = options->table; o->name; o++)
        if (o->val == optopt && o->has_arg == no_argument && !strncmp(given, "--", 2))
            return pleat_error_set(err, PLEAT_E_INVALID, "option '--%s' takes no value", o->name);
    return pleat_error_set(err, PLEAT_E_INVALID, "unknown option '-%c'", optopt);
}

static int take_common(struct pleat_options *options, int code, struct pleat_error *err)
{
    switch (code) {
    case OPTION_HELP:
        pleat_command_help(options->command);
        options->exit_code = PLEAT_EXIT_OK;
        return PLEAT_OPTION_EXIT;
    case OPTION_DIR:
        if (!*optarg)
            return pleat_error_set(err, PLEAT_E_INVALID, "option '--dir' needs a directory");
        if (setenv("PLEAT_DIR", optarg, 1))
            return pleat_error_sys(err, errno, "cannot set PLEAT_DIR");
        return 0;
    case OPTION_NO_COLOR:
        pleat_settings.no_color = true;
        return 0;
    default:
        pleat_settings.json = true;
        return 0;
    }
}

int pleat_options_next_quiet(struct pleat_options *options, struct pleat_error *err)
{
    char shorts[64];
    snprintf(shorts, sizeof(shorts), "%s:%s%s", options->in_front ? "+" : "",
             options->command->name ? "h" : "", options->shorts);
    opterr = 0;
    for (;;) {
        int code = getopt_long(options->argc, options->argv, shorts, options->table, NULL);
        if (code == -1) {
            options->first = optind;
            return PLEAT_OPTION_END;
        }
        if (code == '?' || code == ':')
            return bad_option(options, code, err);
        if (code == 'h')
            code = OPTION_HELP;
        if (code < OPTION_DIR)
            return code;
        int result = take_common(options, code, err);
        if (result)
            return result;
    }
}

int pleat_options_next(struct pleat_options *options)
{
    struct pleat_error err = {0};
    int code = pleat_options_next_quiet(options, &err);
    if (err.code == 0)
        return code;
    options->exit_code = pleat_usage(options->command, "%s", err.text);
    return PLEAT_OPTION_EXIT;
}

int pleat_options_count(const struct pleat_options *options, int least, int most)
{
    int count = options->argc - options->first;
    if (count < least)
        return pleat_usage(options->command, "too few arguments: it is 'pleat %s %s'",
                           options->command->name, options->command->arguments);
    if (most >= 0 && count > most)
        return pleat_usage(options->command, "unexpected argument '%s': it is 'pleat %s %s'",
                           options->argv[options->first + most], options->command->name,
                           options->command->arguments);
    return 0;
}

int pleat_options_plain(struct pleat_options *options, const struct pleat_command *command,
                        int argc, char **argv, int least, int most)
{
    pleat_options_init(options, command, argc, argv, NULL, NULL);
    int code = pleat_options_next(options);
    if (code == PLEAT_OPTION_END) {
        options->exit_code = pleat_options_count(options, least, most);
        if (options->exit_code)
            return PLEAT_OPTION_EXIT;
    }
    return code;
}

int pleat_usage(const struct pleat_command *command, const char *fmt, ...)
{
    char text[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (command)
        pleat_say("%s: %s (see 'pleat %s --help')", command->name, text, command->name);
    else
        pleat_say("%s (see 'pleat help')", text);
    return PLEAT_EXIT_USAGE;
}

/* ---- values ---- */

int pleat_parse_int(const char *what, const char *text, int64_t low, int64_t high, int64_t *value,
                    struct pleat_error *err)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool digits = (*text >= '0' && *text <= '9') || (*text == '-' && text[1]);
    if (!digits || *end || errno || number < low || number > high)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: '%s' is not a whole number from %lld to %lld", what, text,
                               (long long)low, (long long)high);
    *value = number;
    return 0;
}

int pleat_parse_seconds(const char *what, const char *text, double low, double high, double *value,
                        struct pleat_error *err)
{
    char *end = NULL;
    errno = 0;
    double number = strtod(text, &end);
    bool digits = strspn(text, "+-.0123456789eE") == strlen(text) && end != text;
    if (!digits || *end || errno || !isfinite(number) || number < low || number > high)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: '%s' is not a number from %g to %g", what,
                               text, low, high);
    *value = number;
    return 0;
}

int pleat_parse_percent(const char *what, const char *text, double *share, struct pleat_error *err)
{
    char number[64];
    size_t length = strlen(text);
    double percent = 0;
    if (length > 0 && text[length - 1] == '%')
        length--;
    snprintf(number, sizeof(number), "%.*s", (int)(length < 60 ? length : 60), text);
    if (pleat_parse_seconds(what, number, 0, 100, &percent, NULL))
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: '%s' is not a percentage from 0 to 100",
                               what, text);
    *share = percent / 100;
    return 0;
}

int pleat_parse_word(const char *what, const char *text, const char *const *words, size_t count,
                     size_t *index, struct pleat_error *err)
{
    char list[200] = "";
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(text, words[i])) {
            *index = i;
            return 0;
        }
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "", words[i]);
    }
    return pleat_error_set(err, PLEAT_E_INVALID, "%s: '%s' is none of %s", what, text, list);
}

int pleat_parse_when(const char *what, const char *text, double *seconds, struct pleat_error *err)
{
    time_t now = time(NULL);
    struct tm day;
    const char *end = NULL;
    if (!strchr(text, ':')) {
        int status = pleat_parse_duration(what, text, seconds, err);
        if (!status && *seconds <= 0)
            status = pleat_error_set(err, PLEAT_E_INVALID, "%s: it must be in the future", what);
        return status;
    }
    if (localtime_r(&now, &day)) {
        day.tm_sec = 0;
        end = strptime(text, strlen(text) > 5 ? "%H:%M:%S" : "%H:%M", &day);
    }
    if (!end || *end)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: '%s' is not a time of the day such as 14:30", what, text);
    day.tm_isdst = -1;
    time_t then = mktime(&day);
    if (then <= now) {
        day.tm_mday++;
        day.tm_isdst = -1;
        then = mktime(&day);
    }
    *seconds = (double)(then - now);
    return 0;
}

int pleat_parse_job(const char *text, int64_t *job, struct pleat_error *err)
{
    if (pleat_parse_int("job", text, 1, INT64_MAX, job, NULL))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'%s' is not a job: a job is a number, as 'pleat ps' shows it",
                               text);
    return 0;
}

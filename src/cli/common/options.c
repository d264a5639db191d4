/* options.c - reads command lines, in the same way and with the same messages for all commands. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/common/cli.h"

struct pleat_settings pleat_settings;

enum { OPTION_DIR = 1000, OPTION_NO_COLOR, OPTION_JSON, OPTION_HELP };

static const struct option common[] = {
    {"help", no_argument, NULL, OPTION_HELP},
    {"dir", required_argument, NULL, OPTION_DIR},
    {"no-color", no_argument, NULL, OPTION_NO_COLOR},
    {"no-colour", no_argument, NULL, OPTION_NO_COLOR},
    /* last, since it is left out for commands without it */
    {"json", no_argument, NULL, OPTION_JSON},
};

#define COMMON_COUNT (sizeof(common) / sizeof(common[0]))

void pleat_options_init(struct pleat_options *options, const struct pleat_cli_command *command,
                        int argc, char **argv, const struct option *own, const char *shorts)
{
    *options = (struct pleat_options){.command = command, .argc = argc, .argv = argv};
    pleat_option_reader_init(&options->reader, argc, argv, own, shorts);
    pleat_option_reader_add(&options->reader, common, COMMON_COUNT - !command->json, "h");
    options->reader.in_front = command->program;
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
    for (;;) {
        int code = pleat_option_reader_next(&options->reader, err);
        options->first = options->reader.first;
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
        return pleat_usage(options->command, "unexpected argument '%s': it is 'pleat %s%s%s'",
                           options->argv[options->first + most], options->command->name,
                           *options->command->arguments ? " " : "", options->command->arguments);
    return 0;
}

int pleat_options_plain(struct pleat_options *options, const struct pleat_cli_command *command,
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

int pleat_usage(const struct pleat_cli_command *command, const char *fmt, ...)
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

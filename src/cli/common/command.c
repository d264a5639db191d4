/* command.c - subcommands of subcommands. */
#include <string.h>

#include "base/nearest.h"
#include "cli/common/cli.h"

static const char *last_word(const struct pleat_cli_command *part)
{
    const char *space = strrchr(part->name, ' ');
    return space ? space + 1 : part->name;
}

const struct pleat_cli_command *pleat_command_part(const struct pleat_cli_command *command,
                                                   const char *word)
{
    for (size_t i = 0; command->parts && command->parts[i]; i++)
        if (!strcmp(last_word(command->parts[i]), word))
            return command->parts[i];
    return NULL;
}

static int unknown(const struct pleat_cli_command *command, const char *word)
{
    const char *names[16];
    size_t count = 0;
    while (command->parts[count] && count < sizeof(names) / sizeof(names[0])) {
        names[count] = last_word(command->parts[count]);
        count++;
    }
    const char *near = pleat_nearest(word, names, count);
    return pleat_usage(command, "there is no '%s %s'%s%s%s", command->name, word,
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int pleat_command_run_part(const struct pleat_cli_command *command, int argc, char **argv)
{
    struct pleat_options options;
    pleat_options_init(&options, command, argc, argv, NULL, NULL);
    options.reader.in_front = true;
    int code = pleat_options_next(&options);
    if (code != PLEAT_OPTION_END)
        return options.exit_code;
    if (options.first >= argc)
        return pleat_usage(command, "too few arguments: it is 'pleat %s %s'", command->name,
                           command->arguments);
    const struct pleat_cli_command *part = pleat_command_part(command, argv[options.first]);
    if (!part)
        return unknown(command, argv[options.first]);
    return part->run(argc - options.first, argv + options.first);
}

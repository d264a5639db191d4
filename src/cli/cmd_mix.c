#include "cli/commands.h"
static int run_mix(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 0;
}
const struct pleat_command pleat_cmd_mix = {
    .name = "mix", .arguments = "", .summary = "", .help = "", .run = run_mix};

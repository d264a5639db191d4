#include "cli/workload/commands.h"
#include "cli/workload/workload.h"

static int run_workload(int argc, char **argv)
{
    return pleat_command_run_part(&pleat_cmd_workload, argc, argv);
}

static const struct pleat_cli_command *const parts[] = {
    &pleat_cmd_workload_stat, &pleat_cmd_workload_convert, &pleat_cmd_workload_generate, NULL};

const struct pleat_cli_command pleat_cmd_workload = {
    .name = "workload",
    .arguments = "SUBCOMMAND [OPTION...] [ARGUMENT...]",
    .summary = "Describes, converts and generates workloads for 'pleat sim'",
    .help = "Workloads are files in the Standard Workload Format, in which logs of real "
            "machines are\n"
            "published. Pleat adds columns and header lines for jobs that can change "
            "size; other\n"
            "programs ignore them. No daemon is needed.\n"
            "\n"
            "Exit codes: 0; 1 a file cannot be read or written; 2 usage.\n"
            "\n"
            "Examples:\n"
            "  pleat workload stat log.swf\n"
            "  pleat workload generate lublin --jobs 10000 --machine 256 model.swf\n"
            "  pleat workload convert --malleable 50 model.swf half.swf\n",
    .run = run_workload,
    .parts = parts,
};

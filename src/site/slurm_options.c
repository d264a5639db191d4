#include "site/slurm_options.h"

#include <string.h>

enum { WORD_MAX = 255 };

static int check_path(const char *text, struct pleat_error *err)
{
    if (!strcmp(text, "auto") || text[0] == '/')
        return 0;
    return pleat_error_set(err, PLEAT_E_INVALID, "must be auto, or a path that begins with /");
}

/* As pleat-slurm takes them: control characters are refused for all texts. */
static int check_word(const char *text, struct pleat_error *err)
{
    if (!text[0] || text[0] == '-' || strlen(text) > WORD_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "must have from 1 to %d bytes, and not begin with '-'", WORD_MAX);
    return 0;
}

#define WORD(member, what)                                                                         \
    {                                                                                              \
        .name = #member, .type = PLEAT_OPTION_TEXT,                                                \
        .offset = offsetof(struct pleat_slurm_options, member), .usual = "auto",                   \
        .check = check_word, .help = what                                                          \
    }

const struct pleat_site_option pleat_slurm_option_rows[] = {
    {.name = "conf",
     .type = PLEAT_OPTION_TEXT,
     .offset = offsetof(struct pleat_slurm_options, conf),
     .usual = "auto",
     .check = check_path,
     .help = "the cluster's slurm.conf"},
    WORD(partition, "the partition that is asked"),
    WORD(account, "the account that is charged"),
    WORD(qos, "the quality of service"),
    WORD(constraint, "which features nodes must have"),
    {.name = "memory_mb",
     .type = PLEAT_OPTION_NUMBER,
     .offset = offsetof(struct pleat_slurm_options, memory_mb),
     .usual = "0",
     .high = INT64_C(1) << 40,
     .help = "the memory of an allocation"},
    {.name = "whole",
     .type = PLEAT_OPTION_CHOICE,
     .offset = offsetof(struct pleat_slurm_options, whole),
     .usual = "cores",
     .choices = "cores nodes", /* in the order of enum pleat_slurm_whole */
     .help = "whether whole nodes are asked for"},
    {.name = "limit_s",
     .type = PLEAT_OPTION_SECONDS,
     .offset = offsetof(struct pleat_slurm_options, limit_us),
     .usual = "0",
     .high = 600000000,
     .help = "the time limit of an allocation"},
    {.name = "queue_s",
     .type = PLEAT_OPTION_SECONDS,
     .offset = offsetof(struct pleat_slurm_options, queue_us),
     .usual = "86400",
     .low = 1,
     .high = 1000000000,
     .help = "how long a claim may wait in the queue"},
    {.name = "agent_s",
     .type = PLEAT_OPTION_SECONDS,
     .offset = offsetof(struct pleat_slurm_options, agent_us),
     .usual = "60",
     .low = 1,
     .high = 86400,
     .help = "by when the agent of an allocation must have called"},
    {.name = "by",
     .type = PLEAT_OPTION_CHOICE,
     .offset = offsetof(struct pleat_slurm_options, by),
     .usual = "auto",
     .choices = "auto commands", /* in the order of enum pleat_slurm_by */
     .help = "how Slurm is asked"},
    {.name = "adapter",
     .type = PLEAT_OPTION_TEXT,
     .offset = offsetof(struct pleat_slurm_options, adapter),
     .usual = "auto",
     .check = check_path,
     .help = "the program that speaks with Slurm"},
    {0}};

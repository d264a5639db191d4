/* Options of sites of the kind local. */
#include "site/local.h"

#include <string.h>

#include "base/cpus.h"

/* The number of CPUs that the text names; 0: "auto"; -1: it is wrong, and *err says why. */
static int32_t count_cpus(const char *text, struct pleat_error *err)
{
    struct pleat_cpu_list cpus = {0};
    struct pleat_cpu_set here;
    if (!strcmp(text, "auto"))
        return 0;
    int rc = pleat_cpu_list_parse(text, &cpus, err);
    if (!rc && pleat_cpu_set_get(0, &here) == 0)
        for (size_t i = 0; !rc && i < cpus.count; i++)
            if (!pleat_cpu_set_has(&here, cpus.items[i]))
                rc = pleat_error_set(err, PLEAT_E_INVALID,
                                     "CPU %u is not there, or may not be used (see 'nproc', "
                                     "'taskset -p $$')",
                                     cpus.items[i]);
    int32_t count = rc ? -1 : (int32_t)cpus.count;
    pleat_array_finish(&cpus);
    return count;
}

static int check_cpus(const char *text, struct pleat_error *err)
{
    struct pleat_error why = {0};
    if (count_cpus(text, &why) >= 0)
        return 0;
    return pleat_error_set(err, PLEAT_E_INVALID, "must be auto, or a list such as 0-3,8: %s",
                           why.text);
}

int32_t pleat_local_options_cpus(const struct pleat_local_options *options)
{
    int32_t count = options->cpus ? count_cpus(options->cpus, NULL) : 0;
    return count > 0 ? count : 0;
}

const struct pleat_site_option pleat_local_option_rows[] = {
    {.name = "nodes",
     .type = PLEAT_OPTION_NUMBER,
     .offset = offsetof(struct pleat_local_options, nodes),
     .usual = "1",
     .low = 1,
     .high = 1024,
     .help = "into how many nodes the machine is divided"},
    {.name = "background",
     .type = PLEAT_OPTION_CHOICE,
     .offset = offsetof(struct pleat_local_options, background),
     .usual = "auto",
     .choices = "auto measure ignore", /* in the order of enum pleat_local_background */
     .help = "whether the load of other programs is measured"},
    {.name = "agents",
     .type = PLEAT_OPTION_CHOICE,
     .offset = offsetof(struct pleat_local_options, agents),
     .usual = "socket",
     .choices = "socket tcp", /* in the order of enum pleat_local_agents */
     .help = "how agents reach pleatd"},
    {.name = "cpus",
     .type = PLEAT_OPTION_TEXT,
     .offset = offsetof(struct pleat_local_options, cpus),
     .usual = "auto",
     .check = check_cpus,
     .help = "which CPUs of the machine the processors are"},
    {.name = "claim_delay_s",
     .type = PLEAT_OPTION_SECONDS,
     .offset = offsetof(struct pleat_local_options, claim_delay_us),
     .usual = "0",
     .low = 0,
     .high = 3600,
     .help = "how long processors that are free take to be given, as those of a batch system do"},
    {0}};

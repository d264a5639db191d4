#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fold_run.h"

static const char usage[] =
    "usage: fold-run [OPTION]... -- COMMAND [ARGUMENT]...\n"
    "Runs an MPI program folded without a daemon or an agent; prints one line of JSON at the end.\n"
    "\n"
    "  --processes N        processes of the program on this node (8)\n"
    "  --cpus LIST          the partition, for example 0-3,6 (all that are allowed)\n"
    "  --pool PATH          of share=time: /proc/PID/fd/N of the pool of all such runs\n"
    "  --settings TEXT      as 'wait=immediate,next=sender,queue=local' (queue=local)\n"
    "  --mpi openmpi|mpich  preloads the libpleat-fold of this build for it\n"
    "  --preload FILE       preloads this one\n"
    "  --unfolded           binds the command to the CPUs, and that is all\n"
    "  --block              neighbouring ranks on one CPU (round robin by rank)\n"
    "  --at TIME=COUNT      from then on only the first COUNT CPUs: 2s=1, 500ms=2; several\n"
    "  --alternate TIME     one CPU less, and all again, every TIME\n"
    "  --contended yes|no   whether somebody else computes there (found out)\n"
    "  --hogs N             starts N processes on each CPU that do nothing but compute\n"
    "  --samples FILE       every 10 ms appends the time in seconds, and of each process its\n"
    "                       switches and its useful seconds\n"
    "  --out FILE           appends the line of JSON to it (standard output)\n";

static void refuse(const char *what, const char *value)
{
    fprintf(stderr, "fold-run: %s: %s (fold-run --help)\n", what, value);
    exit(2);
}

static uint32_t number(const char *text, uint32_t least, uint32_t most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (end == text || *end || value < least || value > most)
        refuse("not a possible number", text);
    return (uint32_t)value;
}

static double seconds(const char *text, char **end)
{
    double value = strtod(text, end);
    if (*end == text || value < 0)
        refuse("not a time", text);
    if (!strncmp(*end, "ms", 2)) {
        *end += 2;
        return value / 1000;
    }
    *end += **end == 's' ? 1 : 0;
    return value;
}

static void read_cpus(struct run_options *options, const char *text)
{
    char copy[1024];
    char *rest;
    snprintf(copy, sizeof(copy), "%s", text);
    options->cpu_count = 0;
    for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        char *dash = strchr(one, '-');
        if (dash)
            *dash = '\0';
        uint32_t first = number(one, 0, 8191), last = dash ? number(dash + 1, 0, 8191) : first;
        for (uint32_t cpu = first; cpu <= last && options->cpu_count < RUN_CPUS; cpu++)
            options->cpus[options->cpu_count++] = cpu;
    }
    if (!options->cpu_count)
        refuse("no CPUs", text);
}

static void add_change(struct run_options *options, double at_s, uint32_t count)
{
    if (options->change_count < RUN_CHANGES)
        options->changes[options->change_count++] =
            (struct run_change){.at_s = at_s, .count = count};
}

static void read_change(struct run_options *options, const char *text)
{
    char *end;
    double at_s = seconds(text, &end);
    if (*end != '=')
        refuse("not TIME=COUNT", text);
    add_change(options, at_s, number(end + 1, 1, RUN_CPUS));
}

static void alternate(struct run_options *options, const char *text)
{
    char *end;
    double every_s = seconds(text, &end);
    for (uint32_t i = 1; i <= RUN_CHANGES; i++)
        add_change(options, every_s * i, i % 2 ? UINT32_MAX : 0);
}

static const char *preload_for(const char *mpi)
{
    static char path[4096];
    char self[2048];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash || (strcmp(mpi, "openmpi") != 0 && strcmp(mpi, "mpich") != 0))
        refuse("no such MPI", mpi);
    *slash = '\0';
    snprintf(path, sizeof(path), "%s/../lib/libpleat-fold-%s.so", self, mpi);
    if (access(path, R_OK))
        refuse("is not built", path);
    return path;
}

static const struct option known[] = {{"processes", required_argument, NULL, 'n'},
                                      {"cpus", required_argument, NULL, 'c'},
                                      {"settings", required_argument, NULL, 's'},
                                      {"pool", required_argument, NULL, 'P'},
                                      {"mpi", required_argument, NULL, 'm'},
                                      {"preload", required_argument, NULL, 'p'},
                                      {"unfolded", no_argument, NULL, 'u'},
                                      {"block", no_argument, NULL, 'b'},
                                      {"at", required_argument, NULL, 'a'},
                                      {"alternate", required_argument, NULL, 'A'},
                                      {"contended", required_argument, NULL, 'C'},
                                      {"hogs", required_argument, NULL, 'H'},
                                      {"samples", required_argument, NULL, 'S'},
                                      {"out", required_argument, NULL, 'o'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

static void take_settings(struct run_options *options, const char *text)
{
    struct pleat_error err;
    options->settings_text = text;
    if (pleat_fold_settings_parse(text, &options->settings, &err))
        refuse("--settings", err.text);
}

static void take_option(struct run_options *options, int option, const char *value)
{
    switch (option) {
    case 'n':
        options->processes = number(value, 1, PLEAT_FOLD_PROCESSES_MAX);
        break;
    case 'c':
        read_cpus(options, value);
        break;
    case 's':
        take_settings(options, value);
        break;
    case 'P':
        options->pool = value;
        break;
    case 'm':
        options->preload = preload_for(value);
        break;
    case 'p':
        options->preload = value;
        break;
    case 'u':
        options->unfolded = true;
        break;
    case 'b':
        options->blockwise = true;
        break;
    case 'a':
        read_change(options, value);
        break;
    case 'A':
        alternate(options, value);
        break;
    case 'C':
        options->contended = !strcmp(value, "yes");
        break;
    case 'H':
        options->hogs = number(value, 0, 4);
        break;
    case 'S':
        options->samples = value;
        break;
    case 'o':
        options->out = value;
        break;
    case 'h':
        fputs(usage, stdout);
        exit(0);
    default:
        exit(2);
    }
}

void run_options_read(struct run_options *options, int argc, char **argv)
{
    int option;
    memset(options, 0, sizeof(*options));
    options->processes = 8;
    options->contended = -1;
    options->settings.spin_us = 50;
    options->settings.slice_us = 10000;
    options->settings.queue = PLEAT_FOLD_QUEUE_LOCAL;
    options->settings_text = "";
    options->changes = calloc(RUN_CHANGES, sizeof(*options->changes));
    for (uint32_t cpu = 0; cpu < RUN_CPUS && cpu < (uint32_t)sysconf(_SC_NPROCESSORS_ONLN); cpu++)
        options->cpus[options->cpu_count++] = cpu;
    if (!options->changes)
        refuse("no memory", "for changes");
    while ((option = getopt_long(argc, argv, "+", known, NULL)) != -1)
        take_option(options, option, optarg);
    if (optind == argc)
        refuse("no command", "write it after --");
    options->command = argv + optind;
    if (options->settings.share == PLEAT_FOLD_SHARE_TIME && !options->pool)
        refuse("share=time needs --pool", options->settings_text);
    for (uint32_t i = 0; i < options->change_count; i++) {
        uint32_t *count = &options->changes[i].count;
        if (*count == UINT32_MAX) /* of --alternate */
            *count = options->cpu_count > 1 ? options->cpu_count - 1 : 1;
        if (!*count || *count > options->cpu_count)
            *count = options->cpu_count;
    }
}

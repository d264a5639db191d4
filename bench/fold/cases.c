#include "cases.h"
#include "machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The folded run's time in the first round: enough to judge a goal of 2, and one of 10, also where
 * it takes longer in later ones. */
#define LATE_OPENMPI 12
#define LATE_MPICH 30

/* About half a second of one processor each. */
const struct case_program case_programs[] = {
    {"ring", "ring", true, CASE_ITERATIONS, .iterations = 3000, .work = 4, .tokens = 4},
    {"halo", "halo", true, CASE_FIXED, .iterations = 4000, .size = 256},
    {"alltoall", "alltoall", true, CASE_SIZE, .iterations = 4000, .size = 16},
    {"send.50x2", "send", true, CASE_ITERATIONS, .iterations = 1200, .work = 25, .heavy = 50,
     .factor = 2, .where = "spread"},
    {"ep", "ep", false, CASE_FIXED, .iterations = 1000, .work = 1000},
};
const int case_program_count = sizeof(case_programs) / sizeof(case_programs[0]);

#define SEND(share, times, place)                                                                  \
    {                                                                                              \
        "send." #share "x" #times "." place, "send", true, CASE_ITERATIONS,                        \
            .iterations = 1500, .work = 50, .heavy = (share), .factor = (times), .where = (place)  \
    }
const struct case_program case_imbalanced[] = {
    SEND(50, 1, "spread"), SEND(50, 2, "spread"), SEND(50, 2, "first"),
    SEND(50, 6, "spread"), SEND(50, 6, "first"),  SEND(30, 6, "spread"),
};
const int case_imbalanced_count = sizeof(case_imbalanced) / sizeof(case_imbalanced[0]);

#define CLASS(its_name, takes, count)                                                              \
    {                                                                                              \
        its_name, its_name, true, CASE_FIXED, .iterations = (count), .edition = "small",           \
                                              .ranks = (takes)                                     \
    }
/* About half a second of one processor each, as the others. */
const struct case_program case_classes[] = {
    CLASS("bt", CASE_SQUARES, 200), CLASS("cg", CASE_POWERS, 200),  CLASS("ft", CASE_POWERS, 350),
    CLASS("is", CASE_ANY, 175),     CLASS("lu", CASE_ANY, 175),     CLASS("mg", CASE_POWERS, 400),
    CLASS("mz", CASE_ANY, 125),     CLASS("sp", CASE_SQUARES, 125), CLASS("sweep", CASE_ANY, 250),
};
const int case_class_count = sizeof(case_classes) / sizeof(case_classes[0]);

int case_processes(const struct case_program *program, int wanted)
{
    int most = wanted;
    if (program->ranks == CASE_SQUARES) {
        int edge = 2;
        while ((edge + 1) * (edge + 1) <= wanted)
            edge++;
        most = edge * edge;
    } else if (program->ranks == CASE_POWERS) {
        for (most = 1; most * 2 <= wanted;)
            most *= 2;
    }
    return most;
}

const struct case_program *case_find(const char *name)
{
    for (int i = 0; i < case_program_count; i++)
        if (!strcmp(case_programs[i].name, name))
            return &case_programs[i];
    for (int i = 0; i < case_imbalanced_count; i++)
        if (!strcmp(case_imbalanced[i].name, name))
            return &case_imbalanced[i];
    for (int i = 0; i < case_class_count; i++)
        if (!strcmp(case_classes[i].name, name))
            return &case_classes[i];
    return NULL;
}

/* ---- options ---- */

static void add_option(const char **words, int *count, const char *name, const char *value)
{
    words[(*count)++] = name;
    words[(*count)++] = strdup(value);
    words[*count] = NULL;
}

static void add_number(const char **words, int *count, const char *name, int number)
{
    char text[16];
    if (!number)
        return;
    snprintf(text, sizeof(text), "%d", number);
    add_option(words, count, name, text);
}

/* Units of an iteration, all processes together, as `send` spreads them, and as `ring` has fewer
 * tokens than processes but when it is one. */
static double units_of(const struct case_program *program, int processes)
{
    int heavy = (processes * program->heavy + 50) / 100;
    int tokens = program->tokens ? program->tokens : 1;
    if (processes > 1 && tokens >= processes)
        tokens = processes - 1;
    return (processes + heavy * (program->factor - (program->factor > 0))) * tokens;
}

const char *const *case_options(const struct case_program *program, int processes, double times)
{
    const char **words = calloc(TRIAL_WORDS_MAX, sizeof(*words));
    int count = 0;
    double fewer = (double)CASE_PROCESSES / processes;
    double iterations = program->iterations;
    if (!words)
        abort();
    if (program->scale == CASE_ITERATIONS)
        iterations *= units_of(program, CASE_PROCESSES) / units_of(program, processes);
    iterations = fmax(1, iterations * times);
    add_number(words, &count, "--iterations", (int)(iterations + 0.5));
    add_number(words, &count, "--work", program->work);
    add_number(words, &count, "--size",
               (int)(program->size * (program->scale == CASE_SIZE ? fewer : 1)));
    if (program->edition)
        add_option(words, &count, "--size", program->edition);
    add_number(words, &count, "--heavy", program->heavy);
    add_number(words, &count, "--factor", program->factor);
    if (program->where)
        add_option(words, &count, "--heavy-ranks", program->where);
    add_number(words, &count, "--tokens", program->tokens);
    return words;
}

/* ---- ways ---- */

static struct trial_setup setup_of(enum trial_mpi mpi, enum trial_way way, int processors,
                                   int processes, const struct case_program *program, double times)
{
    return (struct trial_setup){.mpi = mpi,
                                .way = way,
                                .processes = processes,
                                .cpus = machine_cpus(processors),
                                .program = program->program,
                                .options = case_options(program, processes, times)};
}

static void add_ways(struct contest *contest, enum trial_mpi mpi, int processors,
                     const struct case_program *program, double times)
{
    struct trial_setup setup =
        setup_of(mpi, TRIAL_FOLDED, processors, CASE_PROCESSES, program, times);
    contest->program = program;
    contest_add(contest, "folded", &setup);
    double limit = mpi == TRIAL_MPICH ? LATE_MPICH : LATE_OPENMPI;
    setup.way = TRIAL_DEFAULT;
    contest_add(contest, "default", &setup)->limit = limit;
    if (mpi == TRIAL_OPENMPI) {
        setup.way = TRIAL_YIELD;
        contest_add(contest, "yield", &setup)->limit = limit;
    }
}

void case_slowdown(struct contest *contest, enum trial_mpi mpi, int processors,
                   const struct case_program *program, double times)
{
    snprintf(contest->name, sizeof(contest->name), "%s_%dcpu_%s", trial_mpi_name(mpi), processors,
             program->name);
    add_ways(contest, mpi, processors, program, times);
    struct trial_setup setup = setup_of(mpi, TRIAL_DEFAULT, processors, processors, program, times);
    contest_add(contest, "sized", &setup)->limit = LATE_OPENMPI;
}

void case_hogged(struct contest *contest, enum trial_mpi mpi, int processors,
                 const struct case_program *program, double times)
{
    snprintf(contest->name, sizeof(contest->name), "%s_%dcpu_%s_hog", trial_mpi_name(mpi),
             processors, program->name);
    add_ways(contest, mpi, processors, program, times);
    contest->hogs = machine_cpus(processors);
}

#define QUEUES_LONGER 12 /* than other runs */

/* The detector needs 0.2 s at least to see what a program is like, in which it may have the slower
 * queue: runs are long enough for that not to matter, and heavy processes do not make them longer
 * still. */
static double queues_times(const struct case_program *program, double times)
{
    double factor = program->factor ? program->factor : 1;
    return QUEUES_LONGER * times / (1 + (factor - 1) * program->heavy / 100);
}

void case_queues(struct contest *contest, enum trial_mpi mpi, const struct case_program *program,
                 double times)
{
    times = queues_times(program, times);
    struct trial_setup setup =
        setup_of(mpi, TRIAL_FOLDED, CASE_PROCESSORS_MAX, CASE_PROCESSES, program, times);
    snprintf(contest->name, sizeof(contest->name), "%s_queues_%s", trial_mpi_name(mpi),
             program->name);
    contest->program = program;
    setup.settings = "queue=local";
    contest_add(contest, "local", &setup);
    setup.settings = "queue=global";
    contest_add(contest, "global", &setup);
    setup.settings = NULL;
    setup.way = TRIAL_PLEAT;
    contest_add(contest, "chosen", &setup);
}

/* bench_sim - jobs per second through the simulator, one core, reading apart.
 *
 * Baseline, in the same run and alternating: a bare loop for the same schedule (bare.c), rigid jobs
 * only; both must start every job at the same time. Peak memory is that of a child that generates
 * the largest log and runs it. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bare.h"
#include "cases.h"
#include "options.h"
#include "report.h"
#include "workload/swf.h"

#define GOAL_RECORDED_FCFS 6e6
#define GOAL_MODEL_EASY 1e6
#define GOAL_MALLEABLE 5e5
#define GOAL_GROWTH 1.5
#define GOAL_MB 300.0
#define SAMPLE_NS INT64_C(50000000) /* a short run is repeated until it has taken this long */
#define SIZES 3                     /* of generated logs, each ten times the one before */
#define RESULTS_MAX 48

struct result {
    char name[64];
    const char *unit;
    struct bench_series value, bare;
    double goal;
    bool limit; /* the goal is the most, not the least */
};

static struct result results[RESULTS_MAX];
static size_t result_count;

static struct {
    int repeats;
    int most; /* jobs of the largest generated log */
    bool json;
    const char *log;    /* only that one; NULL: all */
    const char *policy; /* the same */
} asked = {.repeats = 7, .most = 1000000};

static struct result *add_result(const char *unit, double goal, bool limit, const char *name)
{
    if (result_count == RESULTS_MAX)
        case_fail(name, "too many results");
    struct result *result = &results[result_count++];
    *result = (struct result){.unit = unit, .goal = goal, .limit = limit};
    snprintf(result->name, sizeof(result->name), "sim_%s", name);
    return result;
}

static bool wanted(const char *choice, const char *name)
{
    return !choice || strcmp(choice, name) == 0;
}

/* ---- speed ---- */

/* Time of a processor that this program had: nothing in it waits, so on an idle machine that is the
 * time that passes, and on a busy one what other processes do is not in it. */
static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Jobs per second. */
static double sample(struct bench_case *bench, enum kind kind,
                     void (*run)(struct bench_case *, enum kind))
{
    int64_t begin = cpu_ns();
    int64_t now = begin;
    double jobs = 0;
    do {
        run(bench, kind);
        jobs += (double)bench->workload.jobs.count;
        now = cpu_ns();
    } while (now - begin < SAMPLE_NS);
    return jobs * 1e9 / (double)(now - begin);
}

static struct result *measure(struct bench_case *bench, enum kind kind, double goal,
                              const char *log)
{
    char name[48];
    snprintf(name, sizeof(name), "%s_%s", log, kind_names[kind]);
    struct result *result = add_result("jobs/s", goal, false, name);
    for (int r = 0; r < asked.repeats; r++) { /* alternating: the machine's moods hit both */
        bench_add(&result->value, sample(bench, kind, case_simulate));
        if (kind == KIND_MALLEABLE)
            continue;
        bench_add(&result->bare, sample(bench, kind, case_bare));
        case_compare(bench, result->name);
    }
    return result;
}

/* All kinds over one log. by_kind, goals: of each. */
static void measure_log(struct bench_case *bench, const char *log, const double goals[KIND_COUNT],
                        struct result *by_kind[KIND_COUNT])
{
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        by_kind[kind] = NULL;
        if (!wanted(asked.policy, kind_names[kind]))
            continue;
        if (kind == KIND_MALLEABLE)
            case_convert(bench);
        by_kind[kind] = measure(bench, (enum kind)kind, goals[kind], log);
    }
}

static const char *data_path(char *path, size_t size, const char *file)
{
    const char *folder = getenv("PLEAT_DATA");
    snprintf(path, size, "%s/%s", folder ? folder : "../shared/data", file);
    return path;
}

static void measure_file(const char *log, const char *file, int32_t machine,
                         const double goals[KIND_COUNT])
{
    char path[4096];
    struct bench_case bench;
    struct result *by_kind[KIND_COUNT];
    if (!wanted(asked.log, log))
        return;
    if (access(data_path(path, sizeof(path), file), R_OK)) {
        fprintf(stderr, "bench_sim: skipped: %s is not there (PLEAT_DATA names its folder)\n",
                path);
        return;
    }
    case_read(&bench, path, machine);
    measure_log(&bench, log, goals, by_kind);
    case_finish(&bench);
}

static void measure_generated(enum model model)
{
    static const double goals[KIND_COUNT] = {0, 0, GOAL_MALLEABLE};
    struct result *by_kind[SIZES][KIND_COUNT];
    size_t jobs = (size_t)asked.most / 100;
    if (!wanted(asked.log, model_names[model]))
        return;
    for (int size = 0; size < SIZES; size++, jobs *= 10) {
        struct bench_case bench;
        char log[32];
        snprintf(log, sizeof(log), "%s_%zu", model_names[model], jobs);
        case_generate(&bench, model, jobs);
        measure_log(&bench, log, goals, by_kind[size]);
        case_finish(&bench);
    }
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        if (!by_kind[0][kind])
            continue;
        char name[48];
        snprintf(name, sizeof(name), "%s_%s_growth", model_names[model], kind_names[kind]);
        struct result *growth = add_result("times", GOAL_GROWTH, true, name);
        bench_add(&growth->value, bench_median(&by_kind[0][kind]->value) /
                                      bench_median(&by_kind[SIZES - 1][kind]->value));
        bench_add(&growth->bare, bench_median(&by_kind[0][kind]->bare) /
                                     bench_median(&by_kind[SIZES - 1][kind]->bare));
        if (kind == KIND_MALLEABLE)
            growth->bare.count = 0;
    }
}

/* ---- memory ---- */

static void measure_memory(enum kind kind)
{
    char name[48];
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        case_fail("memory", "no process could be started");
    if (child == 0) {
        struct bench_case bench;
        case_generate(&bench, MODEL_LUBLIN, (size_t)asked.most);
        if (kind == KIND_MALLEABLE)
            case_convert(&bench);
        case_simulate(&bench, kind);
        _exit(0);
    }
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child || status)
        case_fail("memory", "the run failed");
    snprintf(name, sizeof(name), "lublin_%d_%s_memory", asked.most, kind_names[kind]);
    struct result *result = add_result("MB", GOAL_MB, true, name);
    bench_add(&result->value, (double)usage.ru_maxrss * 1024 / 1e6);
}

/* ---- reading ---- */

static double seconds_since(int64_t begin_ns)
{
    return (double)(cpu_ns() - begin_ns) / 1e9;
}

static double sample_reading(const char *text, size_t length, size_t lines)
{
    struct pleat_swf_options options = {.zero = PLEAT_SWF_ZERO_KEEP};
    struct pleat_workload workload = {0};
    struct pleat_error err;
    int64_t begin = cpu_ns();
    if (pleat_workload_init(&workload))
        case_fail("reading", "out of memory");
    if (pleat_swf_read_text(text, length, "generated", &options, &workload, NULL, &err))
        case_fail("reading", err.text);
    double seconds = seconds_since(begin);
    if (workload.jobs.count != lines)
        case_fail("reading", "lines are missing");
    pleat_workload_finish(&workload);
    return (double)lines / seconds;
}

static double sample_bare_reading(const char *text, size_t length, size_t lines)
{
    int64_t sum = 0;
    int64_t begin = cpu_ns();
    size_t found = bare_read(text, length, &sum);
    double seconds = seconds_since(begin);
    if (found != lines || sum <= 0)
        case_fail("bare reading", "lines are missing");
    return (double)lines / seconds;
}

/* A generated log, written into memory and read from there: no disk is measured. */
static void measure_reading(void)
{
    struct bench_case bench;
    struct pleat_error err;
    char *text = NULL;
    size_t length = 0;
    if (!wanted(asked.log, "reading"))
        return;
    case_generate(&bench, MODEL_LUBLIN, (size_t)asked.most / 10);
    FILE *file = open_memstream(&text, &length);
    if (!file)
        case_fail("writing", "out of memory");
    if (pleat_swf_write(&bench.workload, NULL, file, NULL, &err))
        case_fail("writing", err.text);
    if (fclose(file))
        case_fail("writing", "out of memory");
    struct result *result = add_result("lines/s", 0, false, "reading");
    for (int r = 0; r < asked.repeats; r++) {
        bench_add(&result->value, sample_reading(text, length, bench.workload.jobs.count));
        bench_add(&result->bare, sample_bare_reading(text, length, bench.workload.jobs.count));
    }
    free(text);
    case_finish(&bench);
}

/* ---- reporting ---- */

static bool met(const struct result *result)
{
    double value = bench_median(&result->value);
    return result->limit ? value <= result->goal : value >= result->goal;
}

static void report_json(void)
{
    struct bench_row rows[RESULTS_MAX];
    for (size_t i = 0; i < result_count; i++) {
        const struct result *result = &results[i];
        rows[i] = (struct bench_row){.value = bench_median(&result->value),
                                     .unit = result->unit,
                                     .baseline = bench_median(&result->bare),
                                     .goal = result->goal,
                                     .met = met(result)};
        _Static_assert(sizeof(rows[i].name) == sizeof(result->name), "the same name");
        memcpy(rows[i].name, result->name, sizeof(rows[i].name));
    }
    bench_print_json(rows, result_count);
}

/* Median and range of a series, in millions where it is a rate; blank where there is none. */
static void print_series(const struct bench_series *series, double scale)
{
    if (series->count > 1)
        printf("%9.3f [%7.3f ..%8.3f]", bench_median(series) / scale,
               bench_quantile(series, 0) / scale, bench_quantile(series, 1) / scale);
    else if (series->count)
        printf("%9.3f %20s", bench_median(series) / scale, "");
    else
        printf("%9s %20s", "", "");
}

static void report_table(void)
{
    printf("%-42s %9s %-20s %9s %-20s %6s  %s\n", "rates in millions a second", "pleat",
           "[    min ..     max]", "bare loop", "[    min ..     max]", "ratio", "goal");
    for (size_t i = 0; i < result_count; i++) {
        const struct result *result = &results[i];
        bool rate = strcmp(result->unit, "times") != 0 && strcmp(result->unit, "MB") != 0;
        char label[80];
        snprintf(label, sizeof(label), "%s, %s", result->name + strlen("sim_"), result->unit);
        printf("%-42s ", label);
        print_series(&result->value, rate ? 1e6 : 1);
        printf(" ");
        print_series(&result->bare, rate ? 1e6 : 1);
        if (result->bare.count)
            printf(" %6.3f", bench_median(&result->value) / bench_median(&result->bare));
        else
            printf(" %6s", "");
        if (result->goal > 0)
            printf("  %s%g: %s", result->limit ? "at most " : "",
                   rate ? result->goal / 1e6 : result->goal, met(result) ? "met" : "NOT MET");
        printf("\n");
    }
}

static const char usage[] =
    "usage: bench_sim [--repeats N] [--json] [--most JOBS] [--log NAME] [--policy NAME]\n"
    "  --most    jobs of the largest generated log; a million if not said\n"
    "  --log     only recorded, model, poisson, lublin, memory or reading\n"
    "  --policy  only fcfs, easy or malleable\n";

static void read_options(int argc, char **argv)
{
    static const char *const log_names[] = {"recorded", "model",   "poisson", "lublin",
                                            "memory",   "reading", NULL};
    static const struct bench_option options[] = {
        {.name = "repeats", .number = &asked.repeats, .least = 1, .most = BENCH_REPEATS_MAX},
        {.name = "most", .number = &asked.most, .least = 1000, .most = INT_MAX},
        {.name = "log", .text = &asked.log, .choices = log_names},
        {.name = "policy", .text = &asked.policy, .choices = kind_names},
        {.name = "json", .flag = &asked.json}};
    bench_options(argc, argv, usage, options, sizeof(options) / sizeof(*options));
}

int main(int argc, char **argv)
{
    static const double recorded_goals[KIND_COUNT] = {GOAL_RECORDED_FCFS, 0, GOAL_MALLEABLE};
    static const double model_goals[KIND_COUNT] = {0, GOAL_MODEL_EASY, GOAL_MALLEABLE};
    read_options(argc, argv);
    /* first, while this process is small: a child's peak has what it inherits in it */
    for (int kind = 0; kind < KIND_COUNT; kind++)
        if (wanted(asked.log, "memory") && wanted(asked.policy, kind_names[kind]))
            measure_memory((enum kind)kind);
    measure_file("recorded", "NASA-iPSC-1993-3.1-cln.swf", 128, recorded_goals);
    measure_file("model", "lublin_256.swf", 256, model_goals);
    for (int model = 0; model < MODEL_COUNT; model++)
        measure_generated((enum model)model);
    measure_reading();
    if (asked.json)
        report_json();
    else
        report_table();
    return 0;
}

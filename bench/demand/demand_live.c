/* demand_live.c - executions of the application, under a pleatd for each policy. */
#include "demand/demand.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "fold/scratch.h"

#define LIMIT_S 300.0
#define PATH 200
#define SPREAD (1.0 / 11.2) /* of the time of an iteration, from execution to execution (4.2) */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static bool is_open[DEMAND_POLICIES];
static int round_now; /* each has directories of its own: what is remembered is of its executions */

double demand_speed(int round, int execution)
{
    struct pleat_random random;
    pleat_random_init(&random, (uint64_t)round * 1000 + (uint64_t)execution + 1);
    double radius = sqrt(-2 * log(1 - pleat_random_unit(&random)));
    double factor = 1 + SPREAD * radius * cos(6.283185307179586 * pleat_random_unit(&random));
    return fmin(1.2, fmax(0.8, factor)); /* a step is long enough to be told of (app.c) */
}

/* ---- commands ---- */

/* A file of this benchmark's: "d1/pleat.conf". */
static const char *in_scratch(char path[PATH], const char *format, int number)
{
    char name[64];
    snprintf(name, sizeof(name), format, number);
    snprintf(path, PATH, "%s/%s", scratch_directory(), name);
    return path;
}

static _Noreturn void give_up(const char *what, const char *why)
{
    demand_close();
    trial_give_up(what, why);
}

/* Starts a command whose output and complaints go to files. policy: whose pleatd it is for; -1:
 * none's. */
static pid_t start(const char *const *argv, int policy)
{
    char out[PATH], complaints[PATH], dir[PATH];
    in_scratch(out, "out%d", policy);
    in_scratch(complaints, "err%d", policy);
    in_scratch(dir, "d%d", DEMAND_POLICIES * round_now + policy);
    pid_t pid = fork();
    if (pid < 0)
        give_up("cannot fork", strerror(errno));
    if (pid > 0)
        return pid;
    int fds[2] = {open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600),
                  open(complaints, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    setpgid(0, 0);
    if (policy >= 0)
        setenv("PLEAT_DIR", dir, 1);
    if (dup2(fds[0], STDOUT_FILENO) >= 0 && dup2(fds[1], STDERR_FILENO) >= 0)
        execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

static bool wait_for(pid_t pid)
{
    int64_t until_us = pleat_clock_monotonic_us() + (int64_t)(LIMIT_S * 1e6);
    for (int status;;) {
        pid_t ended = waitpid(pid, &status, WNOHANG);
        if (ended != 0)
            return ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (trial_is_interrupted()) {
            demand_close();
            trial_stop_if_interrupted();
        }
        if (pleat_clock_monotonic_us() > until_us)
            give_up("an execution", "it takes too long");
        struct timespec moment = {0, 20000000};
        nanosleep(&moment, NULL);
    }
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = calloc(1, TRIAL_REPORT);
    if (!file || !text)
        give_up(path, "it cannot be read");
    text[fread(text, 1, TRIAL_REPORT - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* What a command has printed; to be freed. One that failed ends the benchmark. */
static char *finish(pid_t pid, int policy, const char *what)
{
    char path[PATH];
    if (!wait_for(pid)) {
        char *why = read_file(in_scratch(path, "err%d", policy));
        give_up(what, *why ? why : "it failed without a word");
    }
    return read_file(in_scratch(path, "out%d", policy));
}

/* ---- the recorded run ---- */

static void take_rows(struct demand *demand, const char *path)
{
    FILE *file = fopen(path, "re");
    int iteration, had;
    struct demand_row row;
    demand->steps = 0;
    for (int i = 0;
         file && fscanf(file, "%d %d %d %d", &iteration, &row.cells, &row.wanted, &had) == 4; i++) {
        if (i % demand->scale.stride != 0)
            continue;
        if (demand->steps == DEMAND_STEPS_MAX)
            give_up("the recorded run", "it has too many steps");
        /* alone it may not want another process; this is what it would want (master.c) */
        row.wanted = (row.cells + demand->scale.objects - 1) / demand->scale.objects;
        row.wanted = row.wanted < DEMAND_MOST ? row.wanted : DEMAND_MOST;
        demand->rows[demand->steps++] = row;
    }
    if (!file || !feof(file) || demand->steps < 2)
        give_up("the recorded run", "its log cannot be read");
    fclose(file);
}

/* In the form of flow's log, which the application reads. */
static void write_rows(const struct demand *demand)
{
    char path[PATH];
    FILE *file = fopen(in_scratch(path, "demand", 0), "we");
    for (int i = 0; file && i < demand->steps; i++)
        fprintf(file, "%d %d %d 1\n", i, demand->rows[i].cells, demand->rows[i].wanted);
    if (!file || fclose(file))
        give_up(path, "it cannot be written");
}

void demand_record(struct demand *demand)
{
    char path[PATH], numbers[2][16];
    snprintf(numbers[0], sizeof(numbers[0]), "%d", demand->scale.iterations);
    snprintf(numbers[1], sizeof(numbers[1]), "%d", demand->scale.objects);
    in_scratch(path, "flow", 0);
    free(finish(
        start(WORDS(BENCH_FLOW, "--iterations", numbers[0], "--objects", numbers[1], "--log", path),
              -1),
        -1, "flow"));
    take_rows(demand, path);
}

/* ---- executions ---- */

static void write_config(const struct demand_scale *scale, int policy)
{
    char path[PATH];
    int number = DEMAND_POLICIES * round_now + policy;
    mkdir(in_scratch(path, "d%d", number), 0700);
    FILE *file = fopen(in_scratch(path, "d%d/pleat.conf", number), "we");
    if (!file ||
        fprintf(file,
                "site \"local\" { processors = %d background = ignore claim_delay_s = %g }\n"
                "idle_exit_s = 0\nbuffer = %s\nbuffer_level = %d\nbuffer_review_s = %g\n"
                "buffer_range = %d\nbuffer_own = %d\n",
                DEMAND_PROCESSORS, scale->claim_s, demand_policies[policy].buffer, DEMAND_LEVEL,
                scale->review_s, DEMAND_RANGE, demand_policies[policy].own) < 0 ||
        fclose(file))
        give_up(path, "it cannot be written");
}

void demand_open(const struct demand *demand, int round)
{
    round_now = round;
    write_rows(demand);
    for (int policy = 0; policy < DEMAND_POLICIES; policy++) {
        write_config(&demand->scale, policy);
        is_open[policy] = true;
        free(finish(start(WORDS(BENCH_PLEAT, "info"), policy), policy, "pleat info"));
    }
}

void demand_close(void)
{
    for (int policy = 0; policy < DEMAND_POLICIES; policy++) {
        if (!is_open[policy])
            continue;
        is_open[policy] = false; /* also where the following fails */
        pid_t pid = start(WORDS(BENCH_PLEAT, "stop", "--force"), policy);
        (void)waitpid(pid, NULL, 0);
    }
    /* daemons and agents are this process's children by now: their processor time is known once
     * they are reaped */
    int64_t until_us = pleat_clock_monotonic_us() + 2000000;
    for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) >= 0;) {
        struct timespec moment = {0, 20000000};
        if (pid == 0 && pleat_clock_monotonic_us() > until_us)
            break;
        if (pid == 0)
            nanosleep(&moment, NULL);
    }
}

/* The lines that the application has printed. */
static void take_output(char *text, struct demand_outcome *outcome, struct bench_series *delays)
{
    char *rest = NULL, name[16];
    double value;
    bool whole = false;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (sscanf(line, "%15s %lf", name, &value) != 2)
            give_up("an execution says what is not understood", line);
        if (!strcmp(name, "delay") && delays)
            bench_add(delays, value / 1e6);
        else if (!strcmp(name, "requests"))
            outcome->requests = (int)value;
        else if (!strcmp(name, "satisfied"))
            outcome->satisfied = (int)value;
        else if (!strcmp(name, "elapsed")) {
            outcome->elapsed_s = value / 1e6;
            whole = true;
        }
    }
    if (!whole)
        give_up("an execution", "it does not say how it went");
}

/* W as Pleat says it, and S, which has to be the application's. */
static void take_buffer(int policy, int job, struct demand_outcome *outcome)
{
    char number[16];
    snprintf(number, sizeof(number), "%d", job);
    char *text =
        finish(start(WORDS(BENCH_PLEAT, "show", number, "--json"), policy), policy, "pleat show");
    json_t *shown = json_loads(text, 0, NULL), *buffer = json_object_get(shown, "buffer");
    json_t *waste = json_object_get(buffer, "waited_s");
    if (!json_is_number(waste))
        give_up("what pleat show says of a buffer is not understood", text);
    if (json_integer_value(json_object_get(buffer, "requests")) != outcome->requests ||
        json_integer_value(json_object_get(buffer, "satisfied")) != outcome->satisfied)
        give_up("pleat show counts other requests than the application", text);
    outcome->waste_s = json_number_value(waste);
    json_decref(shown);
    free(text);
}

void demand_execute(const struct demand *demand, int round, int execution,
                    struct demand_outcome outcomes[DEMAND_POLICIES], struct bench_series *delays)
{
    char path[PATH], objects[16], step[32], most[16];
    pid_t pids[DEMAND_POLICIES];
    snprintf(objects, sizeof(objects), "%d", demand->scale.objects);
    snprintf(step, sizeof(step), "%.0f",
             demand->scale.step_s * 1e6 * demand_speed(round, execution));
    snprintf(most, sizeof(most), "%d", DEMAND_MOST);
    in_scratch(path, "demand", 0);
    /* --program: the time of a step is an argument, so each execution would be another program */
    for (int policy = 0; policy < DEMAND_POLICIES; policy++)
        pids[policy] = start(WORDS(BENCH_PLEAT, "run", "--evolving", "--program", "demand", "--max",
                                   most, "--", BENCH_DEMAND_APP, path, objects, step),
                             policy);
    for (int policy = 0; policy < DEMAND_POLICIES; policy++) {
        char *text = finish(pids[policy], policy, demand_policies[policy].name);
        outcomes[policy] = (struct demand_outcome){.requests = 0};
        take_output(text, &outcomes[policy], policy == DEMAND_NONE ? delays : NULL);
        free(text);
        take_buffer(policy, execution + 1, &outcomes[policy]);
    }
}

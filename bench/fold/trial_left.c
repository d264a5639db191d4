#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trial_parts.h"

/* ---- what they left ---- */

/* A line for each rank: its number, when its part began and ended, the processor time between;
 * nanoseconds. */
static void read_times(const struct trial_running *run)
{
    struct trial_result *result = run->result;
    int fd = dup(run->times);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    double begun, ended, cpu, first = INFINITY, last = -INFINITY;
    int rank, ranks = 0;
    result->own_cpu_s = 0;
    if (!file || fseek(file, 0, SEEK_SET))
        trial_give_up("cannot read times", strerror(errno));
    while (fscanf(file, "%d %lf %lf %lf", &rank, &begun, &ended, &cpu) == 4) {
        ranks++;
        first = fmin(first, begun);
        last = fmax(last, ended);
        result->own_cpu_s += cpu / 1e9;
    }
    fclose(file);
    result->own_begun_s = first / 1e9;
    result->own_ended_s = last / 1e9;
    result->own_elapsed_s = (last - first) / 1e9;
    if (result->outcome == TRIAL_DONE && !run->setup->untimed && ranks != run->setup->processes)
        result->outcome = TRIAL_FAILED;
    if (result->outcome != TRIAL_DONE || run->setup->untimed)
        result->own_elapsed_s = result->own_cpu_s = NAN;
}

static void read_stamps(const struct trial_running *run)
{
    struct trial_result *result = run->result;
    int fd = dup(run->rate);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    size_t room = 0;
    if (!file || fseek(file, 0, SEEK_SET))
        trial_give_up("cannot read stamps", strerror(errno));
    for (double stamp; fscanf(file, "%lf", &stamp) == 1;) {
        if (result->stamp_count == room) {
            room = room ? 2 * room : 1024;
            double *more = realloc(result->stamps, room * sizeof(*more));
            if (!more)
                trial_give_up("stamps", "no memory");
            result->stamps = more;
        }
        result->stamps[result->stamp_count++] = stamp / 1e9;
    }
    fclose(file);
}

/* All that was written into a file. */
static char *read_all(int fd)
{
    struct stat file;
    if (fstat(fd, &file))
        trial_give_up("cannot read what a run has written", strerror(errno));
    char *text = calloc(1, (size_t)file.st_size + 1);
    if (!text || pread(fd, text, (size_t)file.st_size, 0) != file.st_size)
        trial_give_up("what a run has written", "it cannot be read");
    return text;
}

void trial_settle(struct trial_running *run)
{
    struct trial_result *result = run->result;
    if (run->setup->way != TRIAL_MIX)
        read_times(run);
    if (run->setup->way == TRIAL_PLEAT)
        trial_ask_daemon(run->fold, WORDS(BENCH_PLEAT, "show", "1", "--json"));
    if (trial_needs_daemon(run->setup))
        trial_ask_daemon(-1, WORDS(BENCH_PLEAT, "stop", "--force"));
    if (run->setup->rate)
        read_stamps(run);
    if (run->setup->samples)
        result->samples = read_all(run->samples);
    ssize_t got = pread(run->fold, result->fold, sizeof(result->fold) - 1, 0);
    result->fold[got > 0 ? got : 0] = '\0';
    if (run->setup->way == TRIAL_MIX)
        result->report = read_all(run->fold);
    close(run->times);
    close(run->rate);
    close(run->fold);
    close(run->samples);
    close(run->output);
    close(run->pidfd);
    if (result->outcome != TRIAL_FAILED)
        return;
    char what[256];
    if (run->setup->way == TRIAL_MIX)
        snprintf(what, sizeof(what), "a job mix with %s failed", trial_mpi_name(run->setup->mpi));
    else
        snprintf(what, sizeof(what), "%s with %s, %d processes on CPUs %s failed",
                 run->setup->program, trial_mpi_name(run->setup->mpi), run->setup->processes,
                 run->setup->cpus);
    trial_give_up(what, result->output[0] ? result->output : "it says nothing");
}

/* ---- what is told of it ---- */

void trial_release(struct trial_result *result)
{
    free(result->stamps);
    free(result->samples);
    free(result->report);
    result->stamps = NULL;
    result->samples = NULL;
    result->report = NULL;
}

/* What follows the name, or NULL. */
static const char *find_member(const struct trial_result *result, const char *name)
{
    char key[64];
    snprintf(key, sizeof(key), "\"%s\":", name);
    const char *at = strstr(result->fold, key);
    return at ? at + strlen(key) + strspn(at + strlen(key), " ") : NULL;
}

double trial_fold_number(const struct trial_result *result, const char *name)
{
    const char *at = find_member(result, name);
    char *end;
    double value = at ? strtod(at, &end) : NAN;
    return at && end == at ? NAN : value;
}

bool trial_fold_is(const struct trial_result *result, const char *name, const char *text)
{
    const char *at = find_member(result, name);
    size_t length = strlen(text);
    return at && *at == '"' && !strncmp(at + 1, text, length) && at[1 + length] == '"';
}

double trial_idleness(const struct trial_result *result)
{
    double sum = 0, most = 0;
    int count = 0;
    if (find_member(result, "idleness"))
        return trial_fold_number(result, "idleness");
    for (const char *at = result->fold; (at = strstr(at, "\"useful_s\":")); count++) {
        at += strlen("\"useful_s\":");
        double useful = strtod(at, NULL);
        sum += useful;
        most = fmax(most, useful);
    }
    return most > 0 ? 1 - sum / (count * most) : NAN;
}

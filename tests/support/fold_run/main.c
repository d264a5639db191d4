#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "fold_run.h"
#include "shm/fold-pool.h"

#define LOOK_US 5000 /* for processes that attach */
#define LOOK_FOR_OTHERS_US 200000
#define SAMPLE_US 10000 /* the period of Utrera 2010 */

/* The processes open it beside the segment, so the descriptor is this process's own. */
static void join_pool(struct run *run)
{
    struct pleat_error err = {0};
    struct pleat_fold_pool *pool;
    int fd = open(run->options->pool, O_RDWR | O_CLOEXEC);
    if (fd < 0 || pleat_fold_pool_open(run->options->pool, &pool, &err) ||
        pleat_fold_pool_join(run->fold, pool, fd, &err)) {
        fprintf(stderr, "fold-run: %s: %s\n", run->options->pool,
                fd < 0 ? strerror(errno) : err.text);
        exit(1);
    }
}

/* Kept alive as long as this one: /proc/PID/fd/N. */
static void make_segment(struct run *run)
{
    struct pleat_error err;
    char path[64];
    int fd;
    if (pleat_fold_create(run->options->processes, RUN_CPUS, &run->fold, &fd, &err) ||
        pleat_fold_configure(run->fold, &run->options->settings)) {
        fprintf(stderr, "fold-run: %s\n", err.text);
        exit(1);
    }
    if (run->options->settings.share == PLEAT_FOLD_SHARE_TIME)
        join_pool(run);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
    setenv(PLEAT_FOLD_ENV, path, 1);
}

static pid_t start_hog(const struct run *run, uint32_t cpu)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    run_bind(run, 0, cpu, 1);
    for (volatile unsigned long i = 0;; i++)
        ;
}

static pid_t start_command(const struct run *run)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    run_bind(run, getpid(), 0, run->count);
    /* only for what runs folded: not for this program */
    if (run->fold && run->options->preload)
        setenv("LD_PRELOAD", run->options->preload, 1);
    execvp(run->options->command[0], run->options->command);
    fprintf(stderr, "fold-run: cannot start %s: %s\n", run->options->command[0], strerror(errno));
    _exit(127);
}

/* ---- while it runs ---- */

static void change(struct run *run, struct run_change *one)
{
    int64_t before_us = pleat_clock_monotonic_us();
    run_repartition(run, one->count);
    one->done_us = pleat_clock_monotonic_us();
    one->took_us = one->done_us - before_us;
}

static FILE *open_file(const char *path)
{
    FILE *file = fopen(path, "ae");
    if (!file) {
        fprintf(stderr, "fold-run: cannot write %s: %s\n", path, strerror(errno));
        exit(1);
    }
    return file;
}

static void sample(const struct run *run, FILE *out, double time_s)
{
    struct pleat_fold_process process;
    fprintf(out, "%.4f", time_s);
    for (uint32_t i = 0; i < run->options->processes; i++) {
        if (!pleat_fold_processes(run->fold, i, 1, &process))
            process = (struct pleat_fold_process){0};
        fprintf(out, " %llu %.6f", (unsigned long long)process.switches,
                1e-9 * (double)process.useful_ns);
    }
    fprintf(out, "\n");
}

/* Waits until the command has ended; takes the time that it and its reaped children used. */
static int watch(struct run *run, int64_t start_us, struct rusage *usage)
{
    struct run_change *changes = run->options->changes;
    uint32_t next = 0;
    int64_t others_us = 0, sample_us = start_us;
    FILE *samples = run->fold && run->options->samples ? open_file(run->options->samples) : NULL;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        int status;
        if (wait4(run->command, &status, WNOHANG, usage) == run->command) {
            if (samples)
                fclose(samples);
            return status;
        }
        int64_t now_us = pleat_clock_monotonic_us();
        run_bind_new(run);
        if (now_us - others_us > LOOK_FOR_OTHERS_US) {
            run_look_for_others(run);
            others_us = now_us;
        }
        int64_t wait_us = run->attached < run->options->processes ? LOOK_US : LOOK_FOR_OTHERS_US;
        if (samples && now_us >= sample_us) {
            sample(run, samples, 1e-6 * (double)(now_us - start_us));
            sample_us = now_us + SAMPLE_US;
        }
        if (samples && sample_us - now_us < wait_us)
            wait_us = sample_us - now_us;
        if (next < run->options->change_count) {
            int64_t due_us = start_us + (int64_t)(changes[next].at_s * 1e6) - now_us;
            if (due_us <= 0) {
                change(run, &changes[next++]);
                continue;
            }
            wait_us = due_us < wait_us ? due_us : wait_us;
        }
        struct timespec timeout = {.tv_sec = wait_us / 1000000,
                                   .tv_nsec = wait_us % 1000000 * 1000};
        (void)sigtimedwait(&child, NULL, &timeout);
    }
}

/* ---- what came of it ---- */

static double to_s(struct timeval time)
{
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

static void print_processes(FILE *out, const struct run *run)
{
    uint64_t switches = 0;
    struct pleat_fold_process process;
    fprintf(out, ",\"processes\":[");
    for (uint32_t i = 0; run->fold && i < run->options->processes; i++) {
        (void)pleat_fold_processes(run->fold, i, 1, &process);
        switches += process.switches;
        fprintf(out, "%s{\"rank\":%d,\"queue\":%u,\"switches\":%llu,\"useful_s\":%.6f}",
                i ? "," : "", process.rank, process.queue, (unsigned long long)process.switches,
                1e-9 * (double)process.useful_ns);
    }
    fprintf(out, "],\"switches\":%llu", (unsigned long long)switches);
}

static void print_changes(FILE *out, const struct run_options *options)
{
    uint32_t printed = 0;
    fprintf(out, ",\"changes\":[");
    for (uint32_t i = 0; i < options->change_count; i++) {
        const struct run_change *one = &options->changes[i];
        if (one->done_us)
            fprintf(out, "%s{\"at_s\":%.3f,\"processors\":%u,\"done_s\":%.6f,\"took_us\":%lld}",
                    printed++ ? "," : "", one->at_s, one->count, 1e-6 * (double)one->done_us,
                    (long long)one->took_us);
    }
    fprintf(out, "]");
}

static void print_result(const struct run *run, double elapsed_s, const struct rusage *usage,
                         int status)
{
    const struct run_options *options = run->options;
    FILE *out = options->out ? open_file(options->out) : stdout;
    fprintf(out,
            "{\"settings\":\"%s\",\"cpus\":%u,\"hogs\":%u,\"attached\":%u,\"exit\":%d,"
            "\"elapsed_s\":%.6f,\"user_s\":%.6f,\"system_s\":%.6f,\"cpu_s\":%.6f",
            options->unfolded ? "unfolded" : options->settings_text, options->cpu_count,
            options->hogs, run->attached,
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), elapsed_s,
            to_s(usage->ru_utime), to_s(usage->ru_stime),
            to_s(usage->ru_utime) + to_s(usage->ru_stime));
    print_processes(out, run);
    print_changes(out, options);
    fprintf(out, "}\n");
    if (options->out)
        fclose(out);
}

int main(int argc, char **argv)
{
    static struct run_options options;
    static struct run run;
    struct rusage usage;
    sigset_t child;
    run_options_read(&options, argc, argv);
    run.options = &options;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    if (!options.unfolded)
        make_segment(&run);
    run_repartition(&run, options.cpu_count);
    for (uint32_t i = 0; i < options.hogs * options.cpu_count; i++)
        run.hogs[run.hog_count++] = start_hog(&run, i % options.cpu_count);
    int64_t start_us = pleat_clock_monotonic_us();
    run.begun = run.count;
    run.command = start_command(&run);
    int status = watch(&run, start_us, &usage);
    double elapsed_s = 1e-6 * (double)(pleat_clock_monotonic_us() - start_us);
    for (uint32_t i = 0; i < run.hog_count; i++) {
        kill(run.hogs[i], SIGKILL);
        waitpid(run.hogs[i], NULL, 0);
    }
    print_result(&run, elapsed_s, &usage, status);
    if (run.fold)
        pleat_fold_pool_leave(run.fold);
    pleat_fold_close(run.fold);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

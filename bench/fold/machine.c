#include "machine.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOGS_MAX 8

static pid_t hogs[HOGS_MAX];
static int hog_count;

static pthread_t watcher;
static atomic_bool watches;
static double looked_s, latest_s;

static _Noreturn void give_up(const char *what, const char *why)
{
    fprintf(stderr, "bench_fold: %s: %s\n", what, why);
    machine_hogs_end();
    exit(1);
}

static cpu_set_t own_mask(void)
{
    static cpu_set_t mask;
    static bool known;
    if (!known && sched_getaffinity(0, sizeof(mask), &mask))
        give_up("CPUs", strerror(errno));
    known = true;
    return mask;
}

const char *machine_cpus(int count)
{
    static char texts[2][32];
    char *text = texts[count == 2];
    cpu_set_t mask = own_mask();
    int found = 0;
    text[0] = '\0';
    for (size_t cpu = 0; cpu < CPU_SETSIZE && found < count; cpu++) {
        if (!CPU_ISSET(cpu, &mask))
            continue;
        size_t length = strlen(text);
        snprintf(text + length, sizeof(texts[0]) - length, "%s%zu", found++ ? "," : "", cpu);
    }
    return found == count ? text : NULL;
}

cpu_set_t machine_mask(const char *cpus)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (const char *at = cpus; *at;) {
        char *end;
        CPU_SET((size_t)strtoul(at, &end, 10), &mask);
        at = *end == ',' ? end + 1 : end;
    }
    return mask;
}

void machine_hogs_start(const char *cpus)
{
    cpu_set_t all = machine_mask(cpus);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && hog_count < HOGS_MAX; cpu++) {
        if (!CPU_ISSET(cpu, &all))
            continue;
        pid_t pid = fork();
        if (pid < 0)
            give_up("a hog cannot be started", strerror(errno));
        if (pid) {
            hogs[hog_count++] = pid;
            continue;
        }
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* the benchmark may be killed */
        if (sched_setaffinity(0, sizeof(one), &one))
            _exit(1);
        for (volatile unsigned long i = 0;; i++)
            ;
    }
}

void machine_hogs_end(void)
{
    while (hog_count) {
        kill(hogs[--hog_count], SIGKILL);
        waitpid(hogs[hog_count], NULL, 0);
    }
}

double machine_hogs_s(void)
{
    double sum = 0;
    for (int i = 0; i < hog_count; i++) {
        clockid_t clock;
        struct timespec used;
        if (!clock_getcpuclockid(hogs[i], &clock) && !clock_gettime(clock, &used))
            sum += (double)used.tv_sec + (double)used.tv_nsec / 1e9;
    }
    return sum;
}

double machine_busy_s(void)
{
    unsigned long long user = 0, nice = 0, system = 0, idle, waiting, irq = 0, soft = 0;
    FILE *file = fopen("/proc/stat", "re");
    if (!file || fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
                        &idle, &waiting, &irq, &soft) != 7)
        give_up("/proc/stat", "is not as expected");
    fclose(file);
    return (double)(user + nice + system + irq + soft) / (double)sysconf(_SC_CLK_TCK);
}

/* ---- standing still ---- */

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static const struct timespec nap = {.tv_nsec = 10 * 1000 * 1000};

static void look(void)
{
    double woken_s = now_s();
    latest_s = fmax(latest_s, woken_s - looked_s - (double)nap.tv_nsec / 1e9);
    looked_s = woken_s;
}

static void *watch(void *nothing)
{
    while (atomic_load(&watches)) {
        (void)nanosleep(&nap, NULL);
        look();
    }
    return nothing;
}

void machine_watch_begin(void)
{
    sigset_t all, before;
    latest_s = 0;
    looked_s = now_s(); /* the thread has to begin, too */
    atomic_store(&watches, true);
    sigfillset(&all); /* signals are the first thread's */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = pthread_create(&watcher, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        give_up("a thread", strerror(error));
}

double machine_watch_end(void)
{
    atomic_store(&watches, false);
    pthread_join(watcher, NULL);
    look(); /* it may have had no turn at all */
    return latest_s;
}

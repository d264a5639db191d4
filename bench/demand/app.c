/* An application that asks for processes as a recorded run of apps/flow did, and computes nothing.
 * usage: app FILE OBJECTS STEP_US. FILE has a line for each adaptation of that run: iteration,
 * cells, processes wanted, processes there (flow --log). Here each is a step, which takes STEP_US
 * if there are as many processes as are wanted, and longer if not (rule.h).
 *
 * Run by `pleat run --evolving`. It prints how many processes it has asked for, how many of these
 * were there at once, and for each other one that came how long that took, in microseconds. */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "demand/rule.h"
#include "pleat-process.h"

enum { PROCESSES_MAX = 256 };

static struct pleat_processes *all;
static struct pleat_error err;
static struct demand_row rows[DEMAND_STEPS_MAX];
static struct {
    int32_t process;
    double asked_us;
} coming[PROCESSES_MAX];
static int32_t others[PROCESSES_MAX];
static int has = 1, coming_count;

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "app: %s: %s\n", what, why);
    exit(1);
}

static void check(const char *what, int rc)
{
    if (rc < 0)
        fail(what, err.text);
}

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int read_demand(const char *path)
{
    FILE *file = fopen(path, "re");
    int iteration, there, count = 0;
    struct demand_row row;
    while (file && fscanf(file, "%d %d %d %d", &iteration, &row.cells, &row.wanted, &there) == 4) {
        if (count == DEMAND_STEPS_MAX || row.wanted < 1 || row.wanted > PROCESSES_MAX)
            fail(path, "it has too many lines, or wants too many processes");
        rows[count++] = row;
    }
    if (!file || !feof(file) || count == 0)
        fail(path, "it cannot be read, or is no log of flow");
    fclose(file);
    return count;
}

/* What has come is the application's from now on: of the present step that changes nothing. */
static void read_notices(void)
{
    struct pleat_process_news news;
    while (pleat_process_notice(all, &news)) {
        int at = 0;
        while (at < coming_count && coming[at].process != news.process)
            at++;
        if (at == coming_count)
            continue; /* one that was stopped has gone */
        if (news.news != PLEAT_PROCESS_NEWS_CAME)
            fail("a process that was asked for", "it does not come");
        printf("delay %.0f\n", now_us() - coming[at].asked_us);
        others[has++ - 1] = news.process;
        coming[at] = coming[--coming_count];
    }
}

/* Waits until then; what comes meanwhile is seen at once, so that its delay is right. */
static void wait_until(double until_us, int descriptor)
{
    for (double left_us; (left_us = until_us - now_us()) > 0;) {
        struct pollfd watched = {.fd = descriptor, .events = POLLIN};
        (void)poll(&watched, 1, (int)(left_us / 1000) + 1);
        read_notices();
    }
}

static void adjust(struct demand_row row, int objects, int *requests, int *satisfied)
{
    if (demand_stops(row, objects, has, coming_count))
        check("stop", pleat_process_stop(all, others[--has - 1], &err));
    for (int adds = demand_adds(row, has, coming_count); adds > 0; adds--) {
        int32_t process;
        double asked_us = now_us();
        int rc = pleat_process_add(all, NULL, &process, &err);
        check("add", rc);
        ++*requests;
        if (rc == PLEAT_PROCESS_ADDED_READY) {
            ++*satisfied;
            others[has++ - 1] = process;
        } else {
            coming[coming_count].process = process;
            coming[coming_count++].asked_us = asked_us;
        }
    }
}

static void lead(const char *path, int objects, double step_us)
{
    int steps = read_demand(path), requests = 0, satisfied = 0;
    int descriptor = pleat_process_descriptor(all, &err);
    check("descriptor", descriptor);
    double at_us = now_us(), begun_us = at_us;
    for (int step = 0; step < steps; step++) {
        pleat_process_iteration(all, step);
        read_notices();
        adjust(rows[step], objects, &requests, &satisfied);
        at_us += demand_step_us(rows[step], has, step_us);
        wait_until(at_us, descriptor);
    }
    printf("requests %d\nsatisfied %d\nelapsed %.0f\n", requests, satisfied, now_us() - begun_us);
}

int main(int argc, char **argv)
{
    int begun = pleat_processes_begin(&all, NULL, &err), rc = 0;
    struct pleat_process_message message;
    check("begin", begun);
    if (pleat_process_self(all) == 0) {
        if (argc != 4 || atoi(argv[2]) < 1 || atof(argv[3]) <= 0)
            fail("usage", "app FILE OBJECTS STEP_US");
        lead(argv[1], atoi(argv[2]), atof(argv[3]));
    } else if (begun != PLEAT_PROCESS_LEAVE) {
        while (!pleat_process_leaving(all) && rc != PLEAT_E_CLOSED)
            rc = pleat_process_probe(all, 0, 1, &message, 60000, &err);
    }
    fflush(stdout);
    check("finish", pleat_processes_finish(all, &err));
    return 0;
}

#include "job.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *benchmark = "";
static struct app_job *current;
static volatile sig_atomic_t interrupted;

/* The job has a process group of its own, so it does not get the signal. It is cleaned up when the
 * benchmark next looks at the time. */
static void interrupt(int number)
{
    static const char text[] = ": interrupted\n";
    interrupted = number;
    current->deadline_us = 0;
    if (write(STDERR_FILENO, benchmark, strlen(benchmark)) < 0 ||
        write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
        return;
}

void bench_job_begin(const char *name, struct app_job *job)
{
    struct sigaction action = {.sa_handler = interrupt};
    benchmark = name;
    current = job;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

void bench_job_end(void)
{
    APP_CHECK(current, app_job_wait(current) == 0 && strstr(current->output, "RESULT ok"));
    if (app_job_finish(current))
        fprintf(stderr, "%s: a job left something behind; it was cleared away\n", benchmark);
    if (interrupted)
        exit(128 + interrupted);
}

void bench_give_up(const char *what)
{
    fprintf(stderr, "%s: %s\n", benchmark, what);
    exit(1);
}

/* app_walk openmpi|mpich merge|relaunch|warm SIZES PROGRAM [ARGUMENT ...] - takes a program of
 * apps/ through sizes, as 2,4,1: it starts with the first one, and has to be applied at each of the
 * others. Its result has to be right; where it has "bits=", these have to be those of a run of the
 * first size that was not resized, for which a "--pause MS" among the arguments is left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app_job.h"

#define WORDS 24

static struct app_job job;

static void end_well(void)
{
    APP_CHECK(&job, app_job_wait(&job) == 0);
    APP_CHECK(&job, strstr(job.output, "RESULT ok"));
    APP_CHECK(&job, !strstr(job.output, "RESULT wrong"));
    APP_CHECK(&job, app_job_status(&job).finished);
}

static void finish(void)
{
    int left = app_job_finish(&job);
    if (left) {
        fprintf(stderr, "FAILED: the job left %d processes or files behind\n", left);
        exit(1);
    }
}

/* What "bits=" of the result says; empty if it says nothing. */
static void get_bits(char bits[17])
{
    const char *at = strstr(job.output, "bits=");
    snprintf(bits, 17, "%s", at ? at + strlen("bits=") : "");
}

static void start(int ranks, bool mpich, const char *const *argv)
{
    const struct app_job_options options = {.ranks = ranks, .mpich = mpich};
    app_job_start(&job, &options, argv);
    app_job_wait_begun(&job);
}

/* The program may come up with fewer ranks than there were processors for. */
static void relaunch(uint32_t size, struct pleat_mailbox_status (*way)(struct app_job *, uint32_t))
{
    APP_CHECK(&job, way(&job, size).phase == PLEAT_MAILBOX_SAVED);
    APP_CHECK(&job, app_job_status(&job).loaded);
    APP_CHECK(&job, app_job_status(&job).size + app_job_status(&job).surplus == size);
}

static void merge(uint32_t size)
{
    struct pleat_mailbox_status status = app_job_resize(&job, size);
    APP_CHECK(&job, status.phase == PLEAT_MAILBOX_APPLIED);
    APP_CHECK(&job, status.size == size);
}

static void change(const char *way, const char *size)
{
    uint32_t ranks = (uint32_t)strtoul(size, NULL, 10);
    if (!strcmp(way, "relaunch"))
        relaunch(ranks, app_job_relaunch);
    else if (!strcmp(way, "warm"))
        relaunch(ranks, app_job_relaunch_warm);
    else
        merge(ranks);
    printf("now at %u ranks\n", app_job_status(&job).size);
}

/* A copy without "--pause" and its value. */
static const char *const *without_pause(const char *const *argv)
{
    static const char *copy[WORDS + 1];
    int count = 0;
    for (; *argv && count < WORDS; argv++) {
        if (!strcmp(*argv, "--pause") && argv[1])
            argv++;
        else
            copy[count++] = *argv;
    }
    copy[count] = NULL;
    return copy;
}

int main(int argc, char **argv)
{
    char expected[17], bits[17];
    if (argc < 5) {
        fprintf(stderr, "usage: app_walk openmpi|mpich merge|relaunch|warm SIZES PROGRAM ...\n");
        return 2;
    }
    bool mpich = !strcmp(argv[1], "mpich");
    const char *const *program = (const char *const *)argv + 4;
    int first = atoi(argv[3]);
    start(first, mpich, without_pause(program));
    end_well();
    get_bits(expected);
    finish();
    start(first, mpich, program);
    for (char *size = strchr(argv[3], ','); size; size = strchr(size + 1, ','))
        change(argv[2], size + 1);
    end_well();
    get_bits(bits);
    APP_CHECK(&job, !strcmp(bits, expected));
    finish();
    printf("ok\n");
    return 0;
}

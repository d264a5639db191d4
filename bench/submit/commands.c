#include "commands.h"

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS_MAX 8

struct client {
    pthread_t thread;
    char *const *argv;
    int count;
    pthread_barrier_t *barrier;
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void run_one(char *const argv[])
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) ||
        waitpid(pid, &status, 0) != pid || status) {
        fprintf(stderr, "bench_submit: %s %s: does not run, or fails (wait status %d)\n", argv[0],
                argv[1], status);
        exit(1);
    }
    posix_spawn_file_actions_destroy(&actions);
}

static void *run_client(void *arg)
{
    const struct client *client = arg;
    pthread_barrier_wait(client->barrier);
    for (int i = 0; i < client->count; i++)
        run_one(client->argv);
    return NULL;
}

double bench_commands(char *const argv[], int clients, int count)
{
    struct client all[CLIENTS_MAX];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, (unsigned)clients + 1);
    for (int i = 0; i < clients; i++) {
        all[i] = (struct client){.argv = argv, .count = count, .barrier = &barrier};
        if (pthread_create(&all[i].thread, NULL, run_client, &all[i])) {
            fprintf(stderr, "bench_submit: a thread cannot be made\n");
            exit(1);
        }
    }
    pthread_barrier_wait(&barrier);
    double begun = now_s();
    for (int i = 0; i < clients; i++)
        pthread_join(all[i].thread, NULL);
    double rate = clients * count / (now_s() - begun);
    pthread_barrier_destroy(&barrier);
    return rate;
}

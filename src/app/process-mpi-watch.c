/* process-mpi-watch.c - a call of MPI that waits for a process which has died meanwhile.
 *
 * Nothing ends such a call, and none of the other ranks gets on without this one. So after a while
 * this process ends itself, and says why: a run that has failed is better than one that waits for
 * ever. Where Open MPI notices the death by itself its call returns before that. The thread calls
 * nothing of MPI. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "app/process-mpi.h"
#include "base/clock.h"
#include "base/error.h"

#define LOOKS_NS 100000000                /* so often it is looked for deaths */
#define PATIENCE_US (10 * PLEAT_US_PER_S) /* from a death on: a busy machine answers in that */

struct pleat_process_mpi_watch {
    pthread_t thread;
    pthread_mutex_t mutex; /* of `over` */
    pthread_cond_t changed;
    bool over;
    const struct pleat_processes *processes;
    int32_t other;
};

static bool is_gone(const struct pleat_process_mpi_watch *watch)
{
    struct pleat_process_info info;
    struct pleat_error err;
    return !pleat_process_about(watch->processes, watch->other, &info, &err) &&
           info.state == PLEAT_PROCESS_GONE;
}

static _Noreturn void give_up(const struct pleat_process_mpi_watch *watch)
{
    fprintf(stderr,
            "pleat: process %d ends: process %d died while it was being joined to a communicator, "
            "and the call of MPI that waits for it does not return. Start the job again\n",
            (int)pleat_process_self(watch->processes), (int)watch->other);
    fflush(NULL);
    _exit(1);
}

static void *look(void *data)
{
    struct pleat_process_mpi_watch *watch = data;
    int64_t since = 0;
    pthread_mutex_lock(&watch->mutex);
    while (!watch->over) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOKS_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&watch->changed, &watch->mutex, &until);
        if (watch->over)
            break;
        if (!since && is_gone(watch))
            since = pleat_clock_monotonic_us();
        if (since && pleat_clock_monotonic_us() - since > PATIENCE_US)
            give_up(watch); /* with the mutex: the call has not returned, and will not now */
    }
    pthread_mutex_unlock(&watch->mutex);
    return NULL;
}

int pleat_process_mpi_watch(const struct pleat_processes *processes, int32_t other,
                            struct pleat_process_mpi_watch **watch, struct pleat_error *err)
{
    pthread_condattr_t monotonic;
    *watch = malloc(sizeof(**watch));
    if (!*watch)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to watch for deaths");
    **watch = (struct pleat_process_mpi_watch){
        .processes = processes, .other = other, .mutex = PTHREAD_MUTEX_INITIALIZER};
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&(*watch)->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    const int number = pthread_create(&(*watch)->thread, NULL, look, *watch);
    if (!number)
        return 0;
    pthread_cond_destroy(&(*watch)->changed);
    free(*watch);
    *watch = NULL;
    return pleat_error_sys(err, number, "cannot start a thread that watches for deaths");
}

void pleat_process_mpi_unwatch(struct pleat_process_mpi_watch **watch)
{
    struct pleat_process_mpi_watch *old = *watch;
    *watch = NULL;
    if (!old)
        return;
    pthread_mutex_lock(&old->mutex);
    old->over = true;
    pthread_cond_signal(&old->changed);
    pthread_mutex_unlock(&old->mutex);
    pthread_join(old->thread, NULL);
    pthread_cond_destroy(&old->changed);
    pthread_mutex_destroy(&old->mutex);
    free(old);
}

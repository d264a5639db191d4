#include "experiment/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* What the threads share: all but `next` is read and written under the lock. */
struct crew {
    struct pleat_pool *pool;
    atomic_size_t next;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t done, threads; /* runs; threads at work */
    size_t failed;        /* the first run that failed; pool->count: none */
    struct pleat_error error;
};

static void note(struct crew *crew, size_t index, int rc, const struct pleat_error *err)
{
    struct pleat_pool *pool = crew->pool;
    pthread_mutex_lock(&crew->lock);
    crew->done++;
    /* a run that was told to end early did not fail by itself */
    if (rc && !(rc == PLEAT_E_CLOSED && pleat_pool_stops(pool)) && index < crew->failed) {
        crew->failed = index;
        crew->error = *err;
        crew->error.code = rc;
    }
    if (rc)
        atomic_store(&pool->stop, true);
    pthread_cond_signal(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
}

static void *work_off(void *context)
{
    struct crew *crew = context;
    struct pleat_pool *pool = crew->pool;
    for (;;) {
        size_t index = atomic_fetch_add(&crew->next, 1);
        if (index >= pool->count || pleat_pool_stops(pool))
            break;
        struct pleat_error err = {0};
        int rc = pool->run(pool->context, index, &err);
        note(crew, index, rc, &err);
    }
    pthread_mutex_lock(&crew->lock);
    crew->threads--;
    pthread_cond_signal(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* Calls pool->attend several times a second, until no thread is at work any more. */
static void attend(struct crew *crew)
{
    struct pleat_pool *pool = crew->pool;
    pthread_mutex_lock(&crew->lock);
    while (crew->threads > 0) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += 200000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&crew->changed, &crew->lock, &until);
        size_t done = crew->done;
        pthread_mutex_unlock(&crew->lock);
        if (pool->attend)
            pool->attend(pool->context, done);
        pthread_mutex_lock(&crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
}

static size_t thread_count(const struct pleat_pool *pool)
{
    size_t count = pool->threads;
    cpu_set_t cpus;
    if (count == 0)
        count = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : (size_t)CPU_COUNT(&cpus);
    return count < pool->count ? count : pool->count;
}

static int run_threads(struct crew *crew, struct pleat_error *err)
{
    size_t wanted = thread_count(crew->pool), started = 0;
    pthread_t *threads = calloc(wanted, sizeof(*threads));
    if (!threads)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    crew->threads = wanted;
    int failure = 0;
    while (started < wanted && !(failure = pthread_create(&threads[started], NULL, work_off, crew)))
        started++;
    pthread_mutex_lock(&crew->lock);
    crew->threads -= wanted - started;
    pthread_mutex_unlock(&crew->lock);
    if (started > 0)
        attend(crew); /* fewer threads than wanted do all runs, too */
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return started > 0 ? 0 : pleat_error_sys(err, failure, "cannot start a thread");
}

int pleat_pool_run(struct pleat_pool *pool, struct pleat_error *err)
{
    struct crew crew = {.pool = pool, .failed = pool->count};
    pthread_condattr_t attributes;
    if (pool->count == 0)
        return 0;
    atomic_store(&pool->stop, false);
    pthread_mutex_init(&crew.lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&crew.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    int rc = run_threads(&crew, err);
    pthread_cond_destroy(&crew.changed);
    pthread_mutex_destroy(&crew.lock);
    if (rc)
        return rc;
    if (pool->interrupt && *pool->interrupt)
        return pleat_error_set(err, PLEAT_E_CLOSED, "interrupted");
    if (crew.failed < pool->count && err)
        *err = crew.error;
    return crew.failed < pool->count ? crew.error.code : 0;
}

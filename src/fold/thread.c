/* thread.c - threads that a folded program starts. The thread that called MPI_Init is bound to one
 * processor of the job, and threads would inherit that: all threads of an OpenMP team would share
 * it. So they may use all processors of the job, unless the program sets their CPUs. When the job's
 * processors change, the agent moves any thread that has all of the old ones.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fold/real.h"
#include "fold/turn.h"

typedef int create_call(pthread_t *thread, const pthread_attr_t *attributes,
                        void *(*start)(void *context), void *context);

struct begun {
    void *(*start)(void *context);
    void *context;
    struct turn_cpus cpus;
};

static create_call *real_create(void)
{
    static void *_Atomic known;
    void *found = atomic_load_explicit(&known, memory_order_relaxed);
    if (!found) {
        found = fold_real_symbol("pthread_create");
        atomic_store_explicit(&known, found, memory_order_relaxed);
    }
    return (create_call *)found;
}

/* Whether the program sets the thread's CPUs. If it does not, glibc says that all are allowed. */
static bool has_place(const pthread_attr_t *attributes)
{
    struct turn_cpus said, all;
    memset(&all, 0xff, sizeof(all));
    return attributes &&
           (pthread_attr_getaffinity_np(attributes, sizeof(said), (cpu_set_t *)(void *)&said) ||
            memcmp(&said, &all, sizeof(all)) != 0);
}

static void *begin(void *context)
{
    struct begun begun = *(struct begun *)context;
    free(context);
    turn_roam(&begun.cpus);
    return begun.start(begun.context);
}

FOLD_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                               void *(*start)(void *), void *context)
{
    create_call *real = real_create();
    struct turn_cpus cpus;
    if (!real)
        return EAGAIN;
    if (!turn_binds_threads(&cpus) || has_place(attributes))
        return real(thread, attributes, start, context);
    struct begun *begun = malloc(sizeof(*begun));
    if (!begun) /* without memory for that, it starts beside the others */
        return real(thread, attributes, start, context);
    *begun = (struct begun){.start = start, .context = context, .cpus = cpus};
    int code = real(thread, attributes, begin, begun);
    if (code)
        free(begun);
    return code;
}

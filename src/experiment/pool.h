/* pool.h - many independent runs in threads, attended to by the thread that wants them. */
#ifndef PLEAT_EXPERIMENT_POOL_H
#define PLEAT_EXPERIMENT_POOL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct pleat_pool {
    size_t count;   /* runs */
    size_t threads; /* the most at once; 0: one for each processor of this process */
    /* Does run number `index`, in any of the threads; several at once. 0 or a negative code with
     * err. A long one asks pleat_pool_stops now and then, and returns PLEAT_E_CLOSED then. */
    int (*run)(void *context, size_t index, struct pleat_error *err);
    /* Optional: called some times a second in the caller's thread. */
    void (*attend)(void *context, size_t done);
    void *context;
    const volatile sig_atomic_t *interrupt; /* not 0: all shall end; NULL: nothing interrupts */
    atomic_bool stop;                       /* the pool's own */
};

/* Does all runs; results must not depend on their order. 0; PLEAT_E_CLOSED: interrupted; or the
 * code and error of the first run (by index) that failed: the others were ended early. Blocks. */
int pleat_pool_run(struct pleat_pool *pool, struct pleat_error *err) PLEAT_MUST_CHECK;

static inline bool pleat_pool_stops(const struct pleat_pool *pool)
{
    return atomic_load_explicit(&pool->stop, memory_order_relaxed) ||
           (pool->interrupt && *pool->interrupt);
}

#endif

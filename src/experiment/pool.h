/* pool.h - many independent runs in threads, while the calling thread reports progress. */
#ifndef PLEAT_EXPERIMENT_POOL_H
#define PLEAT_EXPERIMENT_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct pleat_pool {
    size_t count;   /* runs */
    size_t threads; /* at most, at one time; 0: one for each processor of this process */
    /* Does run number `index`, in any of the threads; several go on at once. Returns 0, or a
     * negative code with err. A long run asks pleat_pool_stops now and then: if that says so, it
     * returns PLEAT_E_CLOSED. */
    int (*run)(void *context, size_t index, struct pleat_error *err);
    /* Optional: called some times a second in the caller's thread. */
    void (*attend)(void *context, size_t done);
    void *context;
    /* not 0: all runs shall end; NULL: nothing interrupts. Set in a signal handler, read by all
     * threads */
    const atomic_int *interrupt;
    atomic_bool stop; /* set and read by the pool */
};

/* Does all runs; their results must not depend on their order. Returns 0, or PLEAT_E_CLOSED if
 * interrupted, or the code and error of the first run (by index) that failed; the others were
 * ended early. Blocks. */
int pleat_pool_run(struct pleat_pool *pool, struct pleat_error *err) PLEAT_MUST_CHECK;

static inline bool pleat_pool_stops(const struct pleat_pool *pool)
{
    return atomic_load_explicit(&pool->stop, memory_order_relaxed) ||
           (pool->interrupt && *pool->interrupt);
}

#endif

/* Preloaded into ranks in tests that have more of them than there are processors.
 *
 * MPICH waits by polling and never yields, so that ranks which wait have the processors of those
 * for which they wait: such tests took minutes. With this they give way, as those of Open MPI do by
 * mpi_yield_when_idle. Each pass of MPICH's loop polls shared memory, and then asks UCX.
 *
 * Where nobody else wants the processor one that yields has it again at once, and a rank that waits
 * for long takes all of it from the other tests: it sleeps for moments then, which get longer the
 * longer it waits.
 *
 * Folded processes are left alone: libpleat-fold is asked first, and decides who waits how. */
#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PASSES_IN_VAIN = 4,
    AWAY_NS = 5000,
    AWAY_OPENMPI_NS = 1000000,
    YIELDS_NS = 200000,
    NAP_NS = 50000,
    NAP_MOST_NS = 4000000,
    WAITS_PER_NAP = 16 /* so much longer than a nap it has waited before it */
};

typedef unsigned progress_call(void *worker);
typedef void pass_call(void);
progress_call ucp_worker_progress;
pass_call opal_progress;

/* One after another of this thread, in which nothing came. With MPICH it is not seen what came
 * through shared memory, but a thread that was away from its loop for a moment had something. */
static _Thread_local struct {
    int passes;
    int64_t since_ns, left_ns;
    bool yields; /* in this pass, of Open MPI */
} vain;

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static bool is_folded(void)
{
    static int folded = -1;
    if (folded < 0)
        folded = getenv("PLEAT_FOLD") != NULL;
    return folded;
}

static void give_way(int64_t now)
{
    struct timespec nap = {0, (now - vain.since_ns) / WAITS_PER_NAP};
    if (nap.tv_nsec < NAP_NS)
        nap.tv_nsec = NAP_NS;
    if (nap.tv_nsec > NAP_MOST_NS)
        nap.tv_nsec = NAP_MOST_NS;
    if (now - vain.since_ns < YIELDS_NS)
        (void)syscall(SYS_sched_yield);
    else
        (void)nanosleep(&nap, NULL);
}

/* As Open MPI calls it at the end of each pass of its loop in which nothing came. */
int sched_yield(void)
{
    if (is_folded())
        return (int)syscall(SYS_sched_yield);
    const int64_t now = now_ns();
    if (!vain.since_ns || now - vain.left_ns > AWAY_OPENMPI_NS)
        vain.since_ns = now;
    give_way(now);
    vain.left_ns = now_ns();
    vain.yields = true;
    return 0;
}

/* One pass of Open MPI's loop. */
void opal_progress(void)
{
    static union {
        void *symbol;
        pass_call *call;
    } real;
    if (!real.symbol)
        real.symbol = dlsym(RTLD_NEXT, "opal_progress");
    vain.yields = false;
    real.call();
    if (!vain.yields) /* something came */
        vain.since_ns = 0;
}

unsigned ucp_worker_progress(void *worker)
{
    static union {
        void *symbol;
        progress_call *call;
    } real;
    if (!real.symbol)
        real.symbol = dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned events = real.call(worker);
    if (is_folded())
        return events;
    const int64_t now = now_ns();
    if (events || now - vain.left_ns > AWAY_NS) {
        vain.passes = 0;
        vain.since_ns = now;
    }
    if (!events && ++vain.passes > PASSES_IN_VAIN)
        give_way(now);
    vain.left_ns = now_ns();
    return events;
}

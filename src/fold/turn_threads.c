/* Several threads of a process that wait in MPI at the same time. The process has a processor or
 * has none, whichever thread gave it away. That thread takes part for all of them, and the others
 * wait beside it.
 */
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fold/turn_self.h"

/* A thread that waits beside looks for itself after this time: nobody may have told of a message,
 * or the thread that takes part may be stopped in a debugger. */
#define BESIDE_NS 5000000

static _Atomic bool taken;        /* a thread takes part */
static _Atomic bool away;         /* that thread has given the processor away */
static _Atomic uint32_t returns;  /* how often the process got a processor again; a futex */
static _Atomic uint32_t sleepers; /* number of threads that sleep on `returns` */

bool turn_enter(void)
{
    return !atomic_exchange_explicit(&taken, true, memory_order_acquire);
}

void turn_exit(void)
{
    atomic_store_explicit(&taken, false, memory_order_release);
}

void turn_goes(void)
{
    atomic_store(&away, true);
}

void turn_comes(void)
{
    atomic_store(&away, false);
    atomic_fetch_add(&returns, 1);
    if (atomic_load(&sleepers))
        syscall(SYS_futex, &returns, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void turn_beside(void)
{
    const struct timespec timeout = {.tv_nsec = BESIDE_NS};
    uint32_t seen = atomic_load(&returns);
    atomic_fetch_add(&sleepers, 1);
    if (atomic_load(&away))
        syscall(SYS_futex, &returns, FUTEX_WAIT_PRIVATE, seen, &timeout, NULL, 0);
    else
        syscall(SYS_sched_yield);
    atomic_fetch_sub(&sleepers, 1);
}

void turn_threads_forget(void)
{
    atomic_store(&away, false);
    atomic_store(&sleepers, 0);
    turn_exit();
}

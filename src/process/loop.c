#include "process/loop.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/agent.h"
#include "process/stream.h"
#include "process/transport.h"

enum { EVENTS = 16 };

/* One of those who wait on the epoll set wakes up. */
static void poke(const struct pleat_processes *all)
{
    const uint64_t one = 1;
    (void)!write(all->wake, &one, sizeof(one));
}

void pleat_loop_show(struct pleat_processes *all)
{
    bool ready = all->came.first || all->notices_taken < all->notices.count;
    uint64_t count = 1;
    if (all->ready_fd < 0 || ready == all->ready)
        return;
    all->ready = ready;
    if (ready)
        (void)!write(all->ready_fd, &count, sizeof(count));
    else
        (void)!read(all->ready_fd, &count, sizeof(count));
}

void pleat_loop_work(struct pleat_processes *all)
{
    int64_t now = pleat_clock_monotonic_us();
    if (!all->alone) {
        pleat_transport_drain(all);
        pleat_stream_due(all, now);
        pleat_agent_talk(all, now);
        /* what was sent meanwhile may have taken the sockets' sign that there is more */
        pleat_transport_drain(all);
    }
    pleat_loop_show(all);
}

static int milliseconds_to(int64_t until, int64_t now)
{
    if (until == INT64_MAX)
        return -1;
    int64_t left = until <= now ? 0 : (until - now + 999) / 1000;
    return left > 3600000 ? 3600000 : (int)left;
}

/* Waits on the epoll set, without the lock. */
static void sleep_til(struct pleat_processes *all, int64_t until)
{
    struct epoll_event events[EVENTS];
    int timeout = milliseconds_to(until, pleat_clock_monotonic_us());
    pthread_mutex_unlock(&all->lock);
    int count = epoll_wait(all->epoll, events, EVENTS, timeout);
    pthread_mutex_lock(&all->lock);
    for (int i = 0; i < count; i++)
        if (events[i].data.fd == all->wake) {
            uint64_t any;
            (void)!read(all->wake, &any, sizeof(any));
        }
}

bool pleat_loop_wait(struct pleat_processes *all, int64_t until)
{
    if (pleat_clock_monotonic_us() >= until)
        return false;
    all->waits = true;
    sleep_til(all, until < all->due ? until : all->due);
    pleat_loop_work(all);
    return true;
}

int64_t pleat_loop_until(int timeout_ms)
{
    return timeout_ms < 0 ? INT64_MAX : pleat_clock_monotonic_us() + timeout_ms * INT64_C(1000);
}

void pleat_loop_enter(struct pleat_processes *all)
{
    pthread_mutex_lock(&all->lock);
}

void pleat_loop_leave(struct pleat_processes *all)
{
    pleat_loop_show(all);
    all->waits = false;
    if (all->parked)
        pthread_cond_signal(&all->left);
    else if (all->asleep_til && all->due < all->asleep_til)
        poke(all);
    pthread_mutex_unlock(&all->lock);
}

static void *run(void *arg)
{
    struct pleat_processes *all = arg;
    pthread_mutex_lock(&all->lock);
    while (!all->ending) {
        if (all->waits) {
            all->parked = true;
            pthread_cond_wait(&all->left, &all->lock);
            all->parked = false;
            continue;
        }
        all->asleep_til = all->due;
        sleep_til(all, all->due);
        all->asleep_til = 0;
        pleat_loop_work(all);
        if (all->waits)
            poke(all); /* it waits for what has just been done, perhaps */
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

int pleat_loop_open(struct pleat_processes *all, struct pleat_error *err)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    all->epoll = epoll_create1(EPOLL_CLOEXEC);
    all->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    event.data.fd = all->wake;
    if (all->epoll < 0 || all->wake < 0 || epoll_ctl(all->epoll, EPOLL_CTL_ADD, all->wake, &event))
        return pleat_error_sys(err, errno, "cannot make what libpleat-process waits on");
    return 0;
}

int pleat_loop_start(struct pleat_processes *all, struct pleat_error *err)
{
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    int failed = pthread_create(&all->thread, NULL, run, all);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return pleat_error_sys(err, failed, "cannot start the thread of libpleat-process");
    all->thread_runs = true;
    return 0;
}

void pleat_loop_stop(struct pleat_processes *all)
{
    if (!all->thread_runs)
        return;
    pthread_mutex_lock(&all->lock);
    all->ending = true;
    all->waits = false;
    pthread_cond_signal(&all->left);
    poke(all);
    pthread_mutex_unlock(&all->lock);
    pthread_join(all->thread, NULL);
    all->thread_runs = false;
}

void pleat_loop_close(struct pleat_processes *all)
{
    if (all->epoll >= 0)
        close(all->epoll);
    if (all->wake >= 0)
        close(all->wake);
    if (all->ready_fd >= 0)
        close(all->ready_fd);
}

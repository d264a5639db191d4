#include "daemon/later.h"

#include <stdlib.h>

#include "base/clock.h"

struct later_call {
    uv_timer_t timer;
    struct later_call *previous, *next;
    struct later *later;
    int64_t due_us;
    void (*fn)(void *arg, uint64_t token);
    void *arg;
    uint64_t token;
};

static void on_time(uv_timer_t *timer);

static void arm(struct later_call *call, int64_t delay_us)
{
    uv_timer_start(&call->timer, on_time, delay_us > 0 ? (uint64_t)(delay_us + 999) / 1000 : 0, 0);
}

static void forget(struct later_call *call)
{
    if (call->previous)
        call->previous->next = call->next;
    else
        call->later->first = call->next;
    if (call->next)
        call->next->previous = call->previous;
    uv_close((uv_handle_t *)&call->timer, (uv_close_cb)free);
}

static void on_time(uv_timer_t *timer)
{
    struct later_call *call = timer->data;
    void (*fn)(void *arg, uint64_t token) = call->fn;
    void *arg = call->arg;
    uint64_t token = call->token;
    int64_t left_us = call->due_us - pleat_clock_monotonic_us();
    if (left_us > 0) {
        arm(call, left_us);
        return;
    }
    forget(call);
    fn(arg, token);
}

void later_call(struct later *later, int64_t delay_us, void (*fn)(void *arg, uint64_t token),
                void *arg, uint64_t token)
{
    struct later_call *call = calloc(1, sizeof(*call));
    if (!call)
        abort();
    *call = (struct later_call){.later = later,
                                .next = later->first,
                                .due_us = pleat_clock_monotonic_us() + delay_us,
                                .fn = fn,
                                .arg = arg,
                                .token = token};
    if (call->next)
        call->next->previous = call;
    later->first = call;
    uv_timer_init(later->loop, &call->timer);
    call->timer.data = call;
    arm(call, delay_us);
}

void later_drop(struct later *later, const void *arg)
{
    struct later_call *next;
    for (struct later_call *call = later->first; call; call = next) {
        next = call->next;
        if (call->arg == arg)
            forget(call);
    }
}

void later_end(struct later *later)
{
    while (later->first)
        forget(later->first);
}

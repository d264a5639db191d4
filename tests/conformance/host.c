#include "host.h"

#include <string.h>

static int64_t now(void *arg)
{
    return ((struct played_host *)arg)->now_us;
}

static void emit(void *arg, const struct pleat_event *event)
{
    struct played_host *played = arg;
    assert_int_equal(pleat_array_push(&played->events, *event), 0);
}

static void later(void *arg, int64_t delay_us, void (*fn)(void *, uint64_t), void *fn_arg,
                  uint64_t token)
{
    struct played_host *played = arg;
    struct played_call call = {fn, fn_arg, token};
    uint32_t handle;
    assert_true(delay_us >= 0);
    assert_int_equal(pleat_array_push(&played->calls, call), 0);
    assert_int_equal(pleat_heap_push(&played->timers, played->now_us + delay_us,
                                     played->calls.count - 1, &handle),
                     0);
}

void played_host_init(struct played_host *played)
{
    memset(played, 0, sizeof(*played));
    played->host = (struct pleat_host){played, now, emit, later};
    played->now_us = 1000000;
    pleat_heap_init(&played->timers);
}

void played_host_finish(struct played_host *played)
{
    pleat_array_finish(&played->events);
    pleat_array_finish(&played->calls);
    pleat_heap_finish(&played->timers);
}

void played_host_run(struct played_host *played)
{
    while (pleat_heap_first(&played->timers)) {
        struct pleat_heap_entry entry = pleat_heap_pop(&played->timers);
        struct played_call call = played->calls.items[entry.payload];
        if (entry.time_us > played->now_us)
            played->now_us = entry.time_us;
        call.fn(call.arg, call.token);
    }
}

void played_host_mark(struct played_host *played)
{
    played->mark = played->events.count;
}

int played_host_count(const struct played_host *played, unsigned kind, struct pleat_event *last)
{
    int count = 0;
    for (size_t i = played->mark; i < played->events.count; i++) {
        if (played->events.items[i].kind != kind)
            continue;
        count++;
        if (last)
            *last = played->events.items[i];
    }
    return count;
}

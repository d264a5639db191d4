#include "sim/queue.h"

#include <string.h>

#include "base/error.h"
#include "model/types.h"

static void take_out(struct queue_jobs *jobs, size_t index)
{
    memmove(&jobs->items[index], &jobs->items[index + 1],
            (jobs->count - index - 1) * sizeof(*jobs->items));
    jobs->count--;
}

static int64_t later(int64_t now_us, int64_t us)
{
    return us < PLEAT_NEVER - now_us ? now_us + us : PLEAT_NEVER;
}

int queue_add(struct queue *queue, const struct queue_job *job)
{
    if (pleat_array_push(&queue->waiting, *job))
        return PLEAT_E_NOMEM;
    queue->own_waiting += job->owner != QUEUE_OTHERS;
    return 0;
}

struct queue_shadow queue_shadow(const struct queue *queue, int32_t up)
{
    const struct queue_jobs *running = &queue->running;
    int32_t free = up - queue->used, wanted = queue->waiting.items[0].count;
    struct queue_shadow shadow = {PLEAT_NEVER, free > 0 ? free : 0};
    for (size_t i = 0; i < running->count; i++) {
        free += running->items[i].count;
        bool together =
            i + 1 < running->count && running->items[i + 1].ends_us == running->items[i].ends_us;
        if (free >= wanted && !together)
            return (struct queue_shadow){running->items[i].ends_us, free - wanted};
    }
    return shadow;
}

size_t queue_pick(const struct queue *queue, int32_t up, int64_t now_us)
{
    const struct queue_jobs *waiting = &queue->waiting;
    int32_t free = up - queue->used;
    if (waiting->count == 0 || free <= 0)
        return SIZE_MAX;
    if (waiting->items[0].count <= free)
        return 0;
    if (!queue->backfills)
        return SIZE_MAX;
    struct queue_shadow shadow = queue_shadow(queue, up);
    for (size_t i = 1; i < waiting->count && i < QUEUE_DEPTH; i++) {
        const struct queue_job *job = &waiting->items[i];
        if (job->count <= free &&
            (job->count <= shadow.extra ||
             (job->limit_us < PLEAT_NEVER && job->limit_us <= shadow.at_us - now_us)))
            return i;
    }
    return SIZE_MAX;
}

const struct queue_job *queue_start(struct queue *queue, size_t waiting, int64_t now_us)
{
    struct queue_job job = queue->waiting.items[waiting];
    struct queue_jobs *running = &queue->running;
    size_t at = running->count;
    if (pleat_array_push(running, job))
        return NULL;
    job.ends_us = later(now_us, job.limit_us);
    job.done_us = later(now_us, job.run_us < job.limit_us ? job.run_us : job.limit_us);
    for (; at > 0 && running->items[at - 1].ends_us > job.ends_us; at--)
        running->items[at] = running->items[at - 1];
    running->items[at] = job;
    queue->used += job.count;
    queue_drop(queue, waiting);
    return &running->items[at];
}

void queue_end(struct queue *queue, size_t running)
{
    queue->used -= queue->running.items[running].count;
    take_out(&queue->running, running);
}

void queue_drop(struct queue *queue, size_t waiting)
{
    queue->own_waiting -= queue->waiting.items[waiting].owner != QUEUE_OTHERS;
    take_out(&queue->waiting, waiting);
}

int64_t queue_next(const struct queue *queue)
{
    int64_t next_us = PLEAT_NEVER;
    for (size_t i = 0; i < queue->running.count; i++)
        if (queue->running.items[i].done_us < next_us)
            next_us = queue->running.items[i].done_us;
    return next_us;
}

void queue_finish(struct queue *queue)
{
    pleat_array_finish(&queue->waiting);
    pleat_array_finish(&queue->running);
}

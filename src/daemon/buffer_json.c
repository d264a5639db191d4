/* What an evolving job has asked for, and what its buffer was worth, as clients see it. */
#include "daemon/buffer_json.h"

#include "daemon/daemon.h"

/* Processor time without work, and all processor time, up to now where the run goes on. */
static void times_of(struct daemon *d, const struct pleat_component *c,
                     const struct pleat_buffer *buffer, double *waited_us, double *held_us)
{
    bool runs = c->state == PLEAT_RUNNING || c->state == PLEAT_RESIZING;
    int64_t us = runs ? daemon_now_us(d) - buffer->counted_us : 0;
    int64_t idle = buffer->prepared + buffer->preparing + buffer->leaving;
    *waited_us = (double)(buffer->waited_us + idle * us);
    *held_us = (double)(buffer->held_us + (c->processors + idle) * us);
}

json_t *buffer_to_json(struct daemon *d, const struct pleat_component *c)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    if (c->buffer == PLEAT_NONE || !(c->flags & PLEAT_COMPONENT_PREPARES))
        return json_null();
    const struct pleat_buffer *buffer = &view->buffers[c->buffer];
    double waited_us = 0, held_us = 0;
    times_of(d, c, buffer, &waited_us, &held_us);
    return json_pack(
        "{s:i, s:i, s:i, s:I, s:I, s:I, s:o, s:f, s:f}", "prepared", (int)buffer->prepared,
        "coming", (int)buffer->requested, "leaving", (int)buffer->leaving, "requests",
        (json_int_t)buffer->requests, "satisfied", (json_int_t)buffer->satisfied, "waiting",
        (json_int_t)buffer->waiting, "satisfaction",
        buffer->requests ? json_real((double)buffer->satisfied / buffer->requests) : json_null(),
        "waste", held_us > 0 ? waited_us / held_us : 0, "waited_s", waited_us / 1e6);
}

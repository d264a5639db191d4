/* later.h - calls that are due later, from the loop.
 *
 * None is made early: not a microsecond before its delay has passed by the clock that its caller
 * reads (base/clock.h). A timer of libuv may end some milliseconds early, since it counts whole
 * ones, and from when the loop last looked at the clock. Whoever then finds that its time has not
 * come would wait for ever.
 */
#ifndef PLEAT_DAEMON_LATER_H
#define PLEAT_DAEMON_LATER_H

#include <stdint.h>

#include <uv.h>

struct later_call;

struct later {
    uv_loop_t *loop;          /* borrowed */
    struct later_call *first; /* of those that are due, the latest in front */
};

/* Calls fn(arg, token) once, delay_us from now. Out of memory ends the process. */
void later_call(struct later *later, int64_t delay_us, void (*fn)(void *arg, uint64_t token),
                void *arg, uint64_t token);
/* Forgets those of this arg; the loop has to run on. */
void later_drop(struct later *later, const void *arg);
/* Forgets all; the same. */
void later_end(struct later *later);

#endif

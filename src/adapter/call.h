/* call.h - calls of a cluster's operations, one after the other in a thread of their own, each with
 * a limit of time.
 *
 * A call that has not come back within its limit is answered (PLEAT_E_TIMEOUT); its later outcome
 * is still told to its `done`, as `late`. A call that does not come back at all ends the process:
 * pleatd starts another one.
 */
#ifndef PLEAT_ADAPTER_CALL_H
#define PLEAT_ADAPTER_CALL_H

#include <uv.h>

#include "adapter/lines.h"
#include "adapter/operations.h"

/* How long a call that was answered already may go on. */
enum { PLEAT_ADAPTER_STUCK_MS = 60000 };

struct pleat_adapter_calls {
    uv_loop_t *loop;
    const struct pleat_adapter_system *system;
    const struct pleat_adapter_ops *ops;
    struct pleat_adapter_lines *lines;
    uint64_t limit_ms;
};

struct pleat_adapter_call {
    struct pleat_adapter_calls *calls;
    int64_t id; /* of the request that it is for; 0: its own */
    void *arg;
    /* In the thread: uses ops and what is below, and sets failure, err, result. */
    void (*carry_out)(struct pleat_adapter_call *call);
    /* In the loop, once. Answers the request, unless `late`. */
    void (*done)(struct pleat_adapter_call *call);
    /* what is asked */
    json_t *params; /* kept until the end: the wish borrows from it */
    struct pleat_adapter_wish wish;
    char *without; /* owned: of the wish */
    char *nodes;   /* owned */
    uint32_t job;
    char name[PLEAT_ADAPTER_NAME_MAX + 1];
    /* what came of it */
    int failure;
    struct pleat_error err;
    json_t *result;
    bool late;  /* the request was answered before */
    bool never; /* the call was never begun */
    /* its own */
    uv_work_t work;
    uv_timer_t limit;
};

/* A new call; the owner fills in the rest, and begins it. Out of memory ends the process. */
struct pleat_adapter_call *pleat_adapter_call_create(struct pleat_adapter_calls *calls, int64_t id);
/* It is freed after `done`. */
void pleat_adapter_call_begin(struct pleat_adapter_call *call);

#endif

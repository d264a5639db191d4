#include "adapter/call.h"

#include <inttypes.h>
#include <stdlib.h>

struct pleat_adapter_call *pleat_adapter_call_create(struct pleat_adapter_calls *calls, int64_t id)
{
    struct pleat_adapter_call *call = calloc(1, sizeof(*call));
    if (!call)
        abort();
    call->calls = calls;
    call->id = id;
    call->work.data = call;
    call->limit.data = call;
    return call;
}

static void on_work(uv_work_t *work)
{
    struct pleat_adapter_call *call = work->data;
    call->carry_out(call);
}

static void on_closed(uv_handle_t *handle)
{
    struct pleat_adapter_call *call = handle->data;
    free(call->without);
    free(call->nodes);
    json_decref(call->params);
    json_decref(call->result);
    free(call);
}

static void on_worked(uv_work_t *work, int status)
{
    struct pleat_adapter_call *call = work->data;
    call->never = status == UV_ECANCELED;
    if (call->never)
        call->failure = pleat_error_set(&call->err, PLEAT_E_TIMEOUT, "not begun in time");
    call->done(call);
    uv_close((uv_handle_t *)&call->limit, on_closed);
}

static void on_stuck(uv_timer_t *timer)
{
    struct pleat_adapter_call *call = timer->data;
    struct pleat_error err;
    pleat_error_set(&err, PLEAT_E_TIMEOUT, "a call of %s does not come back",
                    call->calls->ops->name);
    pleat_adapter_give_up(call->calls->lines, &err);
}

static void on_limit(uv_timer_t *timer)
{
    struct pleat_adapter_call *call = timer->data;
    struct pleat_error err;
    call->late = true;
    if (call->id) {
        pleat_error_set(&err, PLEAT_E_TIMEOUT, "the controller did not answer within %" PRIu64 " s",
                        call->calls->limit_ms / 1000);
        pleat_adapter_refuse(call->calls->lines, call->id, &err);
    }
    if (uv_cancel((uv_req_t *)&call->work)) /* it is under way */
        uv_timer_start(&call->limit, on_stuck, PLEAT_ADAPTER_STUCK_MS, 0);
}

void pleat_adapter_call_begin(struct pleat_adapter_call *call)
{
    uv_timer_init(call->calls->loop, &call->limit);
    uv_timer_start(&call->limit, on_limit, call->calls->limit_ms, 0);
    if (uv_queue_work(call->calls->loop, &call->work, on_work, on_worked))
        abort();
}

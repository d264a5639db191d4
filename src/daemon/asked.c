/* What a job's program asks for while it runs: a notice of its agent becomes an input of the core.
 */
#include "daemon/asked.h"

#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/turn_inputs.h"
#include "wire/message.h"

int asked_take(struct daemon *d, const struct job *job, uint64_t run, const json_t *params,
               struct pleat_error *err)
{
    int64_t number = 0, processors = 0;
    bool mandatory = false, unbegun = false;
    double limit_s = 0;
    int rc = pleat_get_int(params, "number", true, 1, UINT32_MAX, &number, err);
    if (!rc)
        rc = pleat_get_int(params, "processors", true, 0, PLEAT_SIZE_MAX, &processors, err);
    if (!rc)
        rc = pleat_get_bool(params, "mandatory", false, &mandatory, err);
    if (!rc)
        rc = pleat_get_bool(params, "unbegun", false, &unbegun, err);
    if (!rc)
        rc = pleat_get_real(params, "limit_s", false, &limit_s, err);
    if (!rc && !(limit_s >= 0 && limit_s <= 1e9))
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'limit_s' must be from 0 to 1e9");
    if (rc)
        return rc;
    const struct pleat_component *component = job_component(d, job);
    const struct pleat_ask *known = pleat_view_ask(pleat_core_view(d->core), component);
    const struct pleat_event event = {
        .kind = PLEAT_EV_ASKED,
        .flags = (uint16_t)((mandatory ? PLEAT_MANDATORY : 0) | (unbegun ? PLEAT_UNBEGUN : 0)),
        .component = job->component,
        .u.asked = {.run = run,
                    .number = (uint32_t)number,
                    .processors = (int32_t)processors,
                    .limit_us = (int64_t)(limit_s * 1e6)}};
    if (component->run != run || (uint32_t)number > known->number)
        turn_event(d, &event);
    return 0;
}

/* Makes a job of a submission: its number, its list of sizes, its spec, and the events that follow
 * it.
 */
#include <string.h>

#include "daemon/daemon.h"
#include "daemon/declared.h"
#include "daemon/depend.h"
#include "daemon/jobs.h"
#include "daemon/notes.h"
#include "daemon/specs.h"
#include "daemon/submission.h"
#include "daemon/turn_inputs.h"

/* Writes the list of accepted sizes before the submission that refers to it. */
static int submit_sizes(struct daemon *d, struct input *input, struct pleat_error *err)
{
    const struct pleat_sizes *sizes = &input->spec->sizes;
    if (sizes->kind != PLEAT_SIZES_LIST)
        return 0;
    input->event.u.submit.sizes_parameter = size_list_find(d, sizes);
    if (input->event.u.submit.sizes_parameter >= 0)
        return 0;
    input->event.u.submit.sizes_parameter = (int32_t)d->turn.next_size_list;
    struct pleat_event part;
    uint32_t told = 0;
    while (pleat_submission_list(d->turn.next_size_list, sizes->list, sizes->count,
                                 input->event.time_us, &told, &part)) {
        int rc = pleat_core_apply(d->core, &part, &d->turn.effects, err);
        if (rc)
            return rc;
        turn_record(d, &part);
    }
    d->turn.next_size_list++;
    return 0;
}

int submission_prepare(struct daemon *d, struct input *input, struct pleat_error *err)
{
    const struct pleat_spec_array *array = &input->spec->array;
    uint32_t component = pleat_core_next_component(d->core);
    if (array->count && array->place == 0)
        d->turn.array.job = 0;
    if (array->count && array->place > 0 && !d->turn.array.job) { /* as the first task */
        if (err)
            *err = d->turn.array.why;
        return d->turn.array.why.code;
    }
    input->event.component = component;
    input->event.u.submit.job = (uint64_t)d->jobs.last_number + 1;
    int rc = needs_check(d, input->spec, err);
    return rc ? rc : submit_sizes(d, input, err);
}

void submission_taken(struct daemon *d, struct input *input)
{
    int64_t id = (int64_t)input->event.u.submit.job;
    struct pleat_spec_array *array = &input->spec->array;
    if (array->count && array->place == 0) {
        d->turn.array.job = id;
        d->turn.array.group = pleat_core_next_group(d->core);
    }
    if (array->count) {
        array->job = d->turn.array.job;
        json_object_set_new(json_object_get(input->spec_json, "array"), "job",
                            json_integer(array->job));
    }
    if (spec_made(d, id, input->spec_json) || job_add(d, id, input->event.component))
        daemon_log("out of memory: job %lld is incomplete", (long long)id);
}

int submission_complete(struct daemon *d, const struct pleat_event *submit,
                        const struct pleat_spec *spec, struct pleat_error *err)
{
    const struct job *job = job_of_component(d, submit->component);
    if (!job)
        return 0;
    struct pleat_companions companions;
    struct pleat_submission_needs needs = {0};
    struct pleat_event event;
    uint32_t step = 0;
    pleat_companions_of_spec(spec, submit->time_us, &companions);
    int rc = needs_find(d, (int64_t)submit->u.submit.job, spec, &needs, &companions.any_need, err);
    companions.needs = needs.items;
    companions.need_count = (uint32_t)needs.count;
    companions.group = d->turn.array.group;
    companions.group_limit = spec->array.count ? spec->array.limit : 0;
    while (!rc && pleat_companions_next(&companions, submit, &step, &event))
        rc = turn_apply(d, &event, err);
    pleat_array_finish(&needs);
    if (!rc)
        return 0;
    struct pleat_event cancel = {
        .time_us = submit->time_us, .kind = PLEAT_EV_CANCEL, .component = submit->component};
    struct pleat_error ignored;
    pleat_error_prefix(err, rc, "job %lld is refused", (long long)job->id);
    note_make(d, submit->time_us, "warning", job->id, note_text(err->text));
    if (turn_apply(d, &cancel, &ignored) < 0)
        daemon_log("job %lld cannot be cancelled: %s", (long long)job->id, ignored.text);
    return rc;
}

#include "model/submission.h"

#include <math.h>
#include <string.h>

#include "model/runner_kind.h"

/* ---- on several nodes ---- */

/* Whether the program saves copies of its state between resizes. Each node saves only its own part,
 * so arrays of any distribution cannot be saved on several nodes. */
static bool saves_copies(const struct pleat_spec *spec)
{
    for (char **entry = spec->env; entry && *entry; entry++)
        if (!strcmp(*entry, "PLEAT_SAVE=resize"))
            return true;
    return false;
}

/* Whether a program that changes its size may be on several nodes, where each change is a relaunch.
 * Where Pleat chooses the way, a program that reads its input, or must not be started twice, is
 * relaunched only if its user says so. */
static bool is_relaunched(const struct pleat_spec *spec)
{
    if (spec->resize == PLEAT_WAY_MERGE || saves_copies(spec))
        return false;
    return spec->resize != PLEAT_WAY_AUTO || (!spec->input && !spec->once);
}

/* An MPI launcher starts all processes, once. What stays on one node: a script, a program with a
 * terminal, one whose processes have several processors, and one that its user wants there. */
static bool spreads(const struct pleat_spec *spec)
{
    if (!spec->mpi || !strcmp(spec->mpi, "none") || spec->script || spec->terminal ||
        spec->cpus_per_task || spec->one_node)
        return false;
    unsigned starts = pleat_runner_starts(spec->runner);
    if (spec->folds)
        return starts == (PLEAT_STARTS_LAUNCHED | PLEAT_STARTS_FOLDED);
    if (starts == (PLEAT_STARTS_LAUNCHED | PLEAT_STARTS_MAILBOX))
        return is_relaunched(spec);
    return starts == PLEAT_STARTS_LAUNCHED &&
           (spec->kind == PLEAT_RIGID || spec->kind == PLEAT_MOLDABLE);
}

static bool evolves(const struct pleat_spec *spec)
{
    return (pleat_runner_starts(spec->runner) & PLEAT_STARTS_EVOLVING) != 0;
}

/* ---- descriptions ---- */

void pleat_submission_of_spec(const struct pleat_spec *spec, struct pleat_submission *submission)
{
    unsigned can = pleat_runner_kind_find(spec->runner)->capabilities;
    bool relaunches = can & PLEAT_RUNNER_RELAUNCHES && spec->resize != PLEAT_WAY_MERGE;
    *submission = (struct pleat_submission){
        .estimate_us = pleat_estimate_for_core(spec->estimate_us),
        .minimum = spec->minimum,
        .maximum = spec->maximum,
        .initial = spec->initial,
        .sizes_parameter = spec->sizes.kind != PLEAT_SIZES_LIST ? spec->sizes.step : 0,
        .site = PLEAT_NONE,
        .flags =
            (uint16_t)((spec->asks ? PLEAT_COMPONENT_ASKS : 0) |
                       (can & PLEAT_RUNNER_EMPTIES ? PLEAT_COMPONENT_EMPTY : 0) |
                       (relaunches ? PLEAT_COMPONENT_RELAUNCHES : 0) |
                       (spec->once ? PLEAT_COMPONENT_ONCE : 0) |
                       (spreads(spec) ? PLEAT_COMPONENT_SPREADS : 0) |
                       (evolves(spec) ? PLEAT_COMPONENT_EVOLVES | PLEAT_COMPONENT_PREPARES : 0) |
                       (evolves(spec) && !spec->one_node ? PLEAT_COMPONENT_ROAMS : 0)),
        .priority = spec->priority,
        .kind = (uint8_t)spec->kind,
        .sizes_kind = (uint8_t)spec->sizes.kind,
        .job_class = (uint8_t)spec->job_class,
        .folds = spec->folds};
    if (!spec->folds)
        return;
    /* its limits of processors come with PARTITION */
    submission->minimum = spec->fold.least;
    submission->maximum = spec->fold.most;
    submission->initial = 0;
    submission->mpl_max = (uint8_t)spec->fold.mpl;
}

/* How many processors a folding component may have, and at which MPL it starts. Both follow from
 * the most processes that it may have. */
static void partition_of_spec(const struct pleat_spec *spec, struct pleat_companions *companions)
{
    int32_t most = spec->fold.most, on = spec->initial;
    int32_t first = on > 0 ? most / on + (most % on != 0) : 0;
    companions->partition_least = spec->minimum > 1 ? spec->minimum : 0;
    companions->partition_most = spec->maximum < most ? spec->maximum : 0;
    companions->mpl_first = first < UINT8_MAX ? first : UINT8_MAX;
}

void pleat_companions_of_spec(const struct pleat_spec *spec, int64_t now_us,
                              struct pleat_companions *companions)
{
    *companions = (struct pleat_companions){
        .notice_us = spec->notice_us,
        .lifetime_us = spec->lifetime_us,
        .limit_us = spec->limit_us,
        .signal = spec->signal,
        .deadline_us = spec->deadline_us ? now_us + spec->deadline_us : 0,
        .begin_us = spec->begin_us ? now_us + spec->begin_us : 0,
        .hold = spec->hold,
    };
    if (spec->folds)
        partition_of_spec(spec, companions);
}

void pleat_submission_of_row(const struct pleat_workload *workload, size_t first, size_t at,
                             struct pleat_submission *submission)
{
    const struct pleat_workload_job *row = &workload->jobs.items[at];
    unsigned part = row->part | workload->jobs.items[first].part, flags = 0;
    bool flexible = false;
    if (row->minimum == 0 || workload->apps.items[row->app].gives_back)
        flags |= PLEAT_COMPONENT_EMPTY;
    if (part != 0) { /* it is one of several */
        flexible = workload->jobs.items[first].part & PLEAT_PART_FLEXIBLE;
        flags |= row->part & PLEAT_PART_FOLLOWS ? PLEAT_COMPONENT_FOLLOWS : 0;
        flags |= flexible && at == first ? PLEAT_COMPONENT_FLEXIBLE : 0;
    }
    *submission = (struct pleat_submission){.job = first + 1,
                                            .estimate_us = row->estimate_us,
                                            .minimum = row->minimum,
                                            .maximum = row->maximum,
                                            .initial = row->initial,
                                            .sizes_parameter = row->sizes_parameter,
                                            .reference = row->processors,
                                            .site = row->site,
                                            .ordinal = (uint16_t)(at - first),
                                            .flags = (uint16_t)flags,
                                            .priority = row->priority,
                                            .kind = row->kind,
                                            .sizes_kind = row->sizes_kind,
                                            .job_class = row->job_class,
                                            .mpl_max = row->mpl_max,
                                            .folds = row->mpl_max > 0,
                                            .part_of_flexible = flexible && at > first};
}

/* ---- inputs ---- */

void pleat_submission_event(const struct pleat_submission *submission, int64_t now_us,
                            uint32_t component, struct pleat_event *submit)
{
    const struct pleat_submission *s = submission;
    bool sized = !s->part_of_flexible;
    *submit =
        (struct pleat_event){.time_us = now_us,
                             .kind = PLEAT_EV_SUBMIT,
                             .flags = (uint16_t)(s->flags | (s->folds ? PLEAT_COMPONENT_FOLDS : 0)),
                             .component = component,
                             .u.submit = {.job = s->job,
                                          .ordinal = s->ordinal,
                                          .estimate_us = s->estimate_us,
                                          .minimum = sized ? s->minimum : 0,
                                          .maximum = sized ? s->maximum : 0,
                                          .initial = sized ? s->initial : 0,
                                          .sizes_parameter = s->sizes_parameter,
                                          .site = s->site,
                                          .job_kind = s->kind,
                                          .sizes_kind = s->sizes_kind,
                                          .reference = s->reference,
                                          .priority = s->priority,
                                          .job_class = s->job_class,
                                          .mpl_max = s->mpl_max}};
}

static bool terms(const struct pleat_companions *said, struct pleat_event *event)
{
    event->kind = PLEAT_EV_TERMS;
    event->u.terms.notice_us = said->notice_us;
    event->u.terms.lifetime_us = said->lifetime_us;
    event->u.terms.limit_us = said->limit_us;
    return said->notice_us >= 0 || said->lifetime_us >= 0 || said->limit_us;
}

static bool limit_signal(const struct pleat_companions *said, struct pleat_event *event)
{
    event->kind = PLEAT_EV_LIMIT_SIGNAL;
    event->u.signal.lead_us = said->signal.lead_us;
    event->u.signal.number = said->signal.number;
    event->u.signal.script_only = said->signal.script_only;
    return said->signal.number;
}

static bool partition(const struct pleat_companions *said, struct pleat_event *event)
{
    event->kind = PLEAT_EV_PARTITION;
    event->u.partition.minimum = said->partition_least;
    event->u.partition.maximum = said->partition_most;
    event->u.partition.mpl = (uint32_t)said->mpl_first;
    return said->partition_least || said->partition_most || said->mpl_first > 1;
}

static bool deadline(const struct pleat_companions *said, struct pleat_event *event)
{
    event->kind = PLEAT_EV_DEADLINE;
    event->u.at.at_us = said->deadline_us;
    return said->deadline_us;
}

static bool reservation(const struct pleat_companions *said, struct pleat_event *event)
{
    event->kind = PLEAT_EV_RESERVE;
    event->u.at.at_us = said->begin_us;
    return said->begin_us;
}

static bool hold(const struct pleat_companions *said, struct pleat_event *event)
{
    event->kind = PLEAT_EV_HOLD;
    return said->hold;
}

static void input(const struct pleat_input_file *file, struct pleat_event *event)
{
    event->kind = PLEAT_EV_INPUT;
    event->u.input.bytes = llround(file->bytes);
    event->u.input.file = file->file;
    event->u.input.site = file->site;
}

static void need(const struct pleat_companions *said, uint32_t which, struct pleat_event *event)
{
    event->kind = PLEAT_EV_DEPEND;
    event->flags = said->any_need ? PLEAT_ANY_NEED : 0;
    event->u.depend.job = said->needs[which].job;
    event->u.depend.component = said->needs[which].component;
    event->u.depend.condition = said->needs[which].condition;
}

static bool (*const single[])(const struct pleat_companions *said, struct pleat_event *event) = {
    terms, limit_signal, partition, deadline, reservation, hold};
enum { SINGLE = sizeof(single) / sizeof(single[0]) };

/* One of the inputs that follow a submission; false: there is nothing to say in it. */
static bool companion(const struct pleat_companions *said, uint32_t step, struct pleat_event *event)
{
    if (step < said->input_count) {
        input(&said->inputs[step], event);
        return true;
    }
    step -= said->input_count;
    if (step < SINGLE)
        return single[step](said, event);
    step -= SINGLE;
    if (step < said->need_count) {
        need(said, step, event);
        return true;
    }
    event->kind = PLEAT_EV_GROUP;
    event->u.group.group = said->group;
    event->u.group.limit = said->group_limit;
    return said->group_limit;
}

bool pleat_companions_next(const struct pleat_companions *companions,
                           const struct pleat_event *submit, uint32_t *step,
                           struct pleat_event *event)
{
    while (*step < companions->input_count + SINGLE + companions->need_count + 1) {
        *event = (struct pleat_event){.time_us = submit->time_us, .component = submit->component};
        if (companion(companions, (*step)++, event))
            return true;
    }
    return false;
}

bool pleat_submission_list(uint32_t list, const int32_t *values, uint32_t count, int64_t now_us,
                           uint32_t *told, struct pleat_event *event)
{
    enum { MOST = sizeof(event->u.sizes.values) / sizeof(*event->u.sizes.values) };
    uint32_t left = count - *told, here = left < MOST ? left : MOST;
    if (left == 0)
        return false;
    *event = (struct pleat_event){.time_us = now_us,
                                  .kind = PLEAT_EV_SIZES,
                                  .component = PLEAT_NONE,
                                  .u.sizes = {.list = list, .count = here}};
    memcpy(event->u.sizes.values, values + *told, here * sizeof(*values));
    *told += here;
    return true;
}

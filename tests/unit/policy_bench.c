#include "policy_bench.h"

#include <string.h>

void bench_init(struct bench *bench)
{
    memset(bench, 0, sizeof(*bench));
    bench->view = (struct pleat_view){.now_us = INT64_C(1000000000),
                                      .components = bench->components,
                                      .sites = bench->sites,
                                      .buffers = bench->buffers,
                                      .foldings = bench->foldings,
                                      .coallocations = bench->coallocations,
                                      .histories = bench->histories,
                                      .reviews_first = PLEAT_NONE,
                                      .evolves = true,
                                      .buffer_level = 1,
                                      .buffer_range = 5,
                                      .buffer_review_us = 600000000,
                                      .size_lists = &bench->list,
                                      .timings = bench->timings,
                                      .queue_first = PLEAT_NONE,
                                      .queue_last = PLEAT_NONE,
                                      .reserved_first = PLEAT_NONE,
                                      .try_us = 1000000,
                                      .spot_gain = 5,
                                      .spot_hysteresis = 5,
                                      .spot_confidence = 90,
                                      .spot_probe = true,
                                      .mpl_max = 4,
                                      .preemptions = 3};
    bench->reserved_last = PLEAT_NONE;
    bench->pass = (struct pleat_pass){.view = &bench->view, .plan = &bench->plan};
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        bench->pass.policies[q] = pleat_policy_default((enum pleat_question)q);
}

void bench_finish(struct bench *bench)
{
    pleat_plan_finish(&bench->plan);
}

void bench_policy(struct bench *bench, const struct pleat_policy *policy)
{
    assert_true(policy->state_size <= sizeof(bench->state));
    bench->pass.policies[policy->question] = policy;
    bench->pass.states[policy->question] = bench->state;
}

uint32_t bench_site(struct bench *bench, int32_t capacity, int32_t threshold)
{
    bench->sites[bench->view.site_count] = (struct pleat_site){.capacity = capacity,
                                                               .threshold = threshold,
                                                               .malleable_first = PLEAT_NONE,
                                                               .malleable_last = PLEAT_NONE,
                                                               .rigid_first = PLEAT_NONE,
                                                               .rigid_last = PLEAT_NONE,
                                                               .ends_first = PLEAT_NONE,
                                                               .ends_last = PLEAT_NONE,
                                                               .buffers_first = PLEAT_NONE};
    return bench->view.site_count++;
}

static uint32_t add(struct bench *bench, struct pleat_component component, uint32_t *first,
                    uint32_t *last)
{
    uint32_t index = bench->view.component_count++;
    assert_true(index < BENCH_JOBS);
    component.job = index + 1;
    component.cap = PLEAT_SIZE_MAX;
    component.wanted_site = PLEAT_NONE;
    component.lead = component.coallocation = PLEAT_NONE;
    component.resize = PLEAT_NONE;
    component.buffer = PLEAT_NONE;
    component.terms = component.folding = component.declaration = component.ask = PLEAT_NONE;
    component.due_us = component.expected_end_us = component.promised_us = PLEAT_NEVER;
    component.promised_site = PLEAT_NONE;
    component.ends_next = PLEAT_NONE;
    component.first_timing = PLEAT_NONE;
    component.next = PLEAT_NONE;
    component.previous = *last;
    if (*last != PLEAT_NONE)
        bench->components[*last].next = index;
    else
        *first = index;
    *last = index;
    bench->components[index] = component;
    return index;
}

uint32_t bench_run(struct bench *bench, uint32_t site, enum pleat_job_kind kind, int32_t size,
                   int32_t minimum, int32_t maximum)
{
    struct pleat_site *place = &bench->sites[site];
    bool malleable = kind == PLEAT_MALLEABLE;
    struct pleat_component component = {.kind = (uint8_t)kind,
                                        .state = PLEAT_RUNNING,
                                        .minimum = minimum,
                                        .maximum = maximum,
                                        .processors = size,
                                        .processes = size,
                                        .target = size,
                                        .site = site};
    return add(bench, component, malleable ? &place->malleable_first : &place->rigid_first,
               malleable ? &place->malleable_last : &place->rigid_last);
}

uint32_t bench_wait(struct bench *bench, enum pleat_job_kind kind, int32_t minimum, int32_t maximum,
                    int32_t initial)
{
    struct pleat_component component = {.kind = (uint8_t)kind,
                                        .state = PLEAT_QUEUED,
                                        .minimum = minimum,
                                        .maximum = maximum,
                                        .initial = initial,
                                        .site = PLEAT_NONE};
    bench->view.queue_count++;
    return add(bench, component, &bench->view.queue_first, &bench->view.queue_last);
}

uint32_t bench_fold(struct bench *bench, uint32_t site, int32_t size, int32_t processes,
                    int32_t mpl, enum pleat_job_class job_class)
{
    uint32_t index = bench_run(bench, site, PLEAT_MALLEABLE, size, 1, processes);
    struct pleat_component *component = &bench->components[index];
    component->flags |= PLEAT_COMPONENT_FOLDS;
    component->processes = processes;
    component->mpl = (uint8_t)mpl;
    component->job_class = (uint8_t)job_class;
    return index;
}

uint32_t bench_wait_folding(struct bench *bench, int32_t minimum, int32_t maximum,
                            enum pleat_job_class job_class)
{
    uint32_t index = bench_wait(bench, PLEAT_MALLEABLE, minimum, maximum, 0);
    bench->components[index].flags |= PLEAT_COMPONENT_FOLDS;
    bench->components[index].job_class = (uint8_t)job_class;
    return index;
}

struct pleat_coallocation *bench_coallocation(struct bench *bench, uint32_t component)
{
    if (bench->components[component].coallocation == PLEAT_NONE) {
        bench->components[component].coallocation = component;
        bench->coallocations[component] = pleat_no_coallocation;
        bench->coallocations[component].component = component;
    }
    return &bench->coallocations[component];
}

void bench_mpl_max(struct bench *bench, uint32_t component, int mpl)
{
    bench->components[component].folding = component;
    bench->foldings[component] =
        (struct pleat_folding){.component = component, .mpl_max = (uint8_t)mpl};
}

void bench_estimate(struct bench *bench, uint32_t component, int64_t seconds)
{
    int64_t us = seconds * 1000000;
    if (bench->components[component].state == PLEAT_QUEUED)
        bench->components[component].estimate_us = us;
    else
        bench->components[component].expected_end_us = bench->view.now_us + us;
}

uint32_t bench_reserve(struct bench *bench, uint32_t site, int32_t size, int64_t begin,
                       int64_t estimate)
{
    int64_t begin_us = bench->view.now_us + begin * 1000000;
    struct pleat_component component = {.kind = PLEAT_RIGID,
                                        .state = PLEAT_QUEUED,
                                        .minimum = size,
                                        .maximum = size,
                                        .begin_us = begin_us,
                                        .estimate_us = estimate * 1000000,
                                        .aside = 1,
                                        .site = PLEAT_NONE};
    uint32_t index = add(bench, component, &bench->view.reserved_first, &bench->reserved_last);
    bench->components[index].wanted_site = bench->components[index].promised_site = site;
    bench->components[index].promised_us = begin_us;
    return index;
}

/* As the core does it where a policy needs it: by expected end, equal ones by start. */
static void index_end(struct bench *bench, uint32_t index)
{
    struct pleat_component *component = &bench->components[index];
    uint32_t *link = &bench->sites[component->site].ends_first;
    while (*link != PLEAT_NONE &&
           bench->components[*link].expected_end_us <= component->expected_end_us)
        link = &bench->components[*link].ends_next;
    component->ends_next = *link;
    *link = index;
}

void bench_timed(struct bench *bench, uint32_t component, int32_t size, int64_t seconds)
{
    uint32_t *link = &bench->components[component].first_timing;
    while (*link != PLEAT_NONE)
        link = &bench->timings[*link].next;
    assert_true(bench->timing_count < BENCH_TIMINGS);
    bench->timings[bench->timing_count] = (struct pleat_timing){
        .processors = size, .iteration_us = seconds * 1000000, .next = PLEAT_NONE};
    *link = bench->timing_count++;
}

struct pleat_buffer *bench_evolves(struct bench *bench, uint32_t component, int32_t held)
{
    struct pleat_site *site = &bench->sites[bench->components[component].site];
    bench->components[component].buffer = component;
    bench->buffers[component] = (struct pleat_buffer){.component = component,
                                                      .previous = PLEAT_NONE,
                                                      .next = site->buffers_first,
                                                      .prepared = held,
                                                      .due_next = PLEAT_NONE};
    if (site->buffers_first != PLEAT_NONE)
        bench->buffers[site->buffers_first].previous = component;
    site->buffers_first = component;
    site->buffered += held;
    site->claimed += held;
    return &bench->buffers[component];
}

void bench_resizing(struct bench *bench, uint32_t component, int32_t target)
{
    bench->components[component].state = PLEAT_RESIZING;
    bench->components[component].target = target;
}

static void sum_up(struct bench *bench, const struct pleat_component *component)
{
    if (component->state != PLEAT_RUNNING && component->state != PLEAT_RESIZING)
        return;
    index_end(bench, (uint32_t)(component - bench->components));
    struct pleat_site *site = &bench->sites[component->site];
    site->claimed +=
        component->target > component->processors ? component->target : component->processors;
    if (component->kind != PLEAT_MALLEABLE)
        return;
    site->malleable_count++;
    bench->view.malleable_count++;
    site->resizing_count += component->state == PLEAT_RESIZING;
    int32_t above = component->target - pleat_accept_smallest(&bench->view, component);
    site->reclaimable += above > 0 ? above : 0;
    site->growers += component->target < pleat_view_limit(&bench->view, component);
}

void bench_begin(struct bench *bench)
{
    bench->list.items = bench->list_values;
    while (bench->list.count < 8 && bench->list_values[bench->list.count])
        bench->list.count++;
    for (uint32_t j = 0; j < bench->view.component_count; j++) {
        sum_up(bench, &bench->components[j]);
        if (bench->components[j].earmarked)
            bench->sites[bench->components[j].site].claimed += bench->components[j].earmarked;
    }
    assert_int_equal(pleat_plan_begin(&bench->plan, &bench->view), 0);
}

void bench_decide(struct bench *bench)
{
    bench_begin(bench);
    bench->pass.policies[PLEAT_APPROACH]->decide(&bench->pass);
    assert_int_equal(bench->plan.failed, 0);
}

const struct pleat_event *bench_decision(const struct bench *bench, uint32_t component)
{
    for (size_t i = 0; i < bench->plan.decisions.count; i++)
        if (bench->plan.decisions.items[i].component == component)
            return &bench->plan.decisions.items[i];
    return NULL;
}

int32_t bench_after(const struct bench *bench, uint32_t component)
{
    const struct pleat_event *decision = bench_decision(bench, component);
    if (decision && decision->kind == PLEAT_EV_RESIZE)
        return decision->u.resize.processors;
    if (decision && decision->kind == PLEAT_EV_START)
        return decision->u.start.processors;
    return bench->components[component].processors;
}

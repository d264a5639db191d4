/* bench_core - events per second through the core, policies included.
 *
 * A stream of one-processor jobs of five inputs each (submit, claimed, started, exited, released)
 * flows through a core that knows KNOWN other jobs, running or waiting; after each input that asks
 * for it, a pass of the policies decides. Baseline, in the same run and alternating: a bare loop
 * that reads the same 64-byte events and does for each only what no scheduler can avoid: write it
 * to a log in memory, change the job's state and the count of free processors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/core.h"
#include "options.h"
#include "report.h"

enum { STREAM = 200000, INPUTS = 5 };

struct stream {
    struct pleat_core *core;
    struct pleat_effects effects;
    struct pleat_events log;
    uint32_t *ring; /* running components, oldest first */
    uint64_t *claims;
    uint32_t *claim_of;
    uint32_t running, head;
    uint64_t inputs;
};

static void fail(const char *what)
{
    fprintf(stderr, "bench_core: %s\n", what);
    exit(1);
}

static void input(struct stream *s, const struct pleat_event *event)
{
    struct pleat_error err;
    if (pleat_array_push(&s->log, *event))
        fail("out of memory");
    if (pleat_core_apply(s->core, event, &s->effects, &err))
        fail(pleat_event_name(event->kind));
    s->inputs++;
}

/* Carries out what the core asked for, as a site and a runner would that answer at once. */
static void answer(struct stream *s, int64_t now_us)
{
    for (size_t i = 0; i < s->effects.count; i++) {
        const struct pleat_effect effect = s->effects.items[i];
        struct pleat_event event = {.time_us = now_us};
        switch (effect.kind) {
        case PLEAT_DO_CLAIM:
        case PLEAT_DO_RELEASE:
            event.kind = effect.kind == PLEAT_DO_CLAIM ? PLEAT_EV_CLAIMED : PLEAT_EV_RELEASED;
            event.component = effect.u.claim.index;
            event.u.claim.claim = effect.id;
            event.u.claim.count = effect.u.claim.count;
            input(s, &event);
            break;
        case PLEAT_DO_START:
            event.kind = PLEAT_EV_STARTED;
            event.component = effect.component;
            event.u.exit.run = effect.id;
            input(s, &event);
            s->ring[(s->head + s->running++) % (STREAM + 200001)] = effect.component;
            break;
        default:
            break;
        }
    }
    s->effects.count = 0;
}

static void settle(struct stream *s, int64_t now_us)
{
    answer(s, now_us);
    while (pleat_core_wants_pass(s->core)) {
        struct pleat_error err;
        if (pleat_core_pass(s->core, now_us, &s->log, &s->effects, &err))
            fail(err.text);
        answer(s, now_us);
    }
}

static void submit(struct stream *s, int64_t now_us, int32_t size)
{
    struct pleat_event event = {.time_us = now_us, .kind = PLEAT_EV_SUBMIT};
    event.component = pleat_core_next_component(s->core);
    event.u.submit.job = event.component + 1u;
    event.u.submit.minimum = event.u.submit.maximum = size;
    event.u.submit.site = PLEAT_NONE;
    input(s, &event);
    settle(s, now_us);
}

static void end_oldest(struct stream *s, int64_t now_us)
{
    uint32_t component = s->ring[s->head % (STREAM + 200001)];
    struct pleat_event event = {.time_us = now_us, .kind = PLEAT_EV_EXITED, .component = component};
    event.u.exit.run = pleat_core_view(s->core)->components[component].run;
    event.u.exit.reason = PLEAT_REASON_EXIT;
    s->head++;
    s->running--;
    input(s, &event);
    settle(s, now_us);
}

/* Known jobs run (waiting 0), or wait behind each other (waiting 1). */
static void prepare(struct stream *s, uint32_t known, int waiting)
{
    memset(s, 0, sizeof(*s));
    s->ring = malloc((STREAM + 200001) * sizeof(*s->ring));
    if (!s->ring || pleat_core_create(&s->core))
        fail("out of memory");
    struct pleat_event site = {.kind = PLEAT_EV_SITE,
                               .u.site = {.capacity = waiting ? 1 : (int32_t)known + 1}};
    input(s, &site);
    for (uint32_t i = 0; i < known; i++)
        submit(s, 1, 1);
    s->log.count = 0;
    s->inputs = 0;
}

static void finish(struct stream *s)
{
    pleat_core_destroy(s->core);
    pleat_array_finish(&s->effects);
    pleat_array_finish(&s->log);
    free(s->ring);
}

/* Seconds per input; *operations: steps in lists and heaps per input. */
static double run_core(uint32_t known, int waiting, double *operations)
{
    struct stream s;
    prepare(&s, known, waiting);
    uint64_t before = pleat_core_operations(s.core);
    int64_t begin = pleat_clock_monotonic_us();
    for (uint32_t i = 0; i < STREAM; i++) {
        if (s.log.count > 4096)
            s.log.count = 0; /* a real log goes to the store every turn */
        submit(&s, 2 + i, 1);
        end_oldest(&s, 2 + i);
    }
    double seconds = (double)(pleat_clock_monotonic_us() - begin) / 1e6 / (double)s.inputs;
    *operations = (double)(pleat_core_operations(s.core) - before) / (double)s.inputs;
    finish(&s);
    return seconds;
}

struct bare_job {
    uint64_t id;
    int64_t submit_us, start_us, end_us;
    int32_t processors;
    uint32_t state;
};

/* The least that any scheduler does with the same events. */
static double run_bare(uint32_t known)
{
    struct bare_job *jobs = calloc(known + STREAM, sizeof(*jobs));
    struct pleat_event *log = calloc(4096, sizeof(*log));
    struct pleat_event *events = calloc(4096, sizeof(*events));
    if (!jobs || !log || !events)
        fail("out of memory");
    for (uint32_t i = 0; i < 4096; i++)
        events[i].kind = (uint16_t)(i % INPUTS);
    int64_t free_processors = 1;
    uint64_t count = (uint64_t)STREAM * INPUTS;
    int64_t begin = pleat_clock_monotonic_us();
    for (uint64_t i = 0; i < count; i++) {
        struct pleat_event *event = &events[i % 4096];
        struct bare_job *job = &jobs[i / INPUTS];
        event->time_us = (int64_t)i;
        log[i % 4096] = *event;
        job->state = event->kind + 1u;
        if (event->kind == 0)
            job->submit_us = event->time_us;
        else if (event->kind == 1)
            free_processors -= 1;
        else if (event->kind == 2)
            job->start_us = event->time_us;
        else if (event->kind == 3)
            job->end_us = event->time_us;
        else
            free_processors += 1;
        __asm__ volatile("" : : "r"(log), "r"(jobs) : "memory");
    }
    double seconds = (double)(pleat_clock_monotonic_us() - begin) / 1e6 / (double)count;
    if (free_processors != 1)
        fail("the bare loop lost count");
    free(jobs);
    free(log);
    free(events);
    return seconds;
}

/* ---- reporting ---- */

#define GOAL_RATE 1e7
#define GOAL_GROWTH 5.0 /* of log n from 10 to 100,000 jobs */
#define CASES 3
#define GOAL_CASE 1 /* 1,000 jobs known */

static const uint32_t known[CASES] = {10, 1000, 100000};
static const char *const kinds[2] = {"running", "waiting"};

struct measured {
    struct bench_series core, bare; /* inputs per second */
    double operations;              /* per input */
};

static void report_json(struct measured measured[2][CASES])
{
    struct bench_row rows[2 * (2 * CASES + 1)];
    size_t count = 0;
    for (int kind = 0; kind < 2; kind++) {
        for (int k = 0; k < CASES; k++) {
            struct bench_row *row = &rows[count++];
            *row = (struct bench_row){.value = bench_median(&measured[kind][k].core),
                                      .unit = "inputs/s",
                                      .baseline = bench_median(&measured[kind][k].bare),
                                      .goal = k == GOAL_CASE ? GOAL_RATE : 0};
            row->met = row->value >= GOAL_RATE;
            snprintf(row->name, sizeof(row->name), "core_%u_%s", known[k], kinds[kind]);
            row = &rows[count++];
            *row = (struct bench_row){.value = measured[kind][k].operations, .unit = "steps/input"};
            snprintf(row->name, sizeof(row->name), "core_%u_%s_steps", known[k], kinds[kind]);
        }
        struct bench_row *row = &rows[count++];
        *row = (struct bench_row){.value = measured[kind][CASES - 1].operations /
                                           measured[kind][0].operations,
                                  .unit = "times",
                                  .goal = GOAL_GROWTH};
        row->met = row->value <= GOAL_GROWTH;
        snprintf(row->name, sizeof(row->name), "core_steps_growth_%s", kinds[kind]);
    }
    bench_print_json(rows, count);
}

static void report_table(struct measured measured[2][CASES])
{
    printf("%-28s %10s %16s %12s %16s %7s  %s\n", "million inputs per second", "core",
           "[min .. max]", "bare loop", "[min .. max]", "ratio", "goal");
    for (int kind = 0; kind < 2; kind++) {
        for (int k = 0; k < CASES; k++) {
            const struct bench_series *core = &measured[kind][k].core;
            const struct bench_series *bare = &measured[kind][k].bare;
            printf(
                "%7u jobs known, %-8s %9.2f   [%5.2f ..%6.2f] %12.1f   [%5.1f ..%6.1f] %7.3f  %s\n",
                known[k], kinds[kind], bench_median(core) / 1e6, bench_quantile(core, 0) / 1e6,
                bench_quantile(core, 1) / 1e6, bench_median(bare) / 1e6,
                bench_quantile(bare, 0) / 1e6, bench_quantile(bare, 1) / 1e6,
                bench_median(core) / bench_median(bare),
                k != GOAL_CASE                    ? ""
                : bench_median(core) >= GOAL_RATE ? "10 M: met"
                                                  : "10 M: NOT MET");
        }
    }
    for (int kind = 0; kind < 2; kind++) {
        double few = measured[kind][0].operations;
        double many = measured[kind][CASES - 1].operations;
        printf("steps in lists and heaps per input, 10 -> 100,000 jobs %s: %.2f -> %.2f (%.2f "
               "times; log n: %.0f times): %s\n",
               kinds[kind], few, many, many / few, GOAL_GROWTH,
               many / few <= GOAL_GROWTH ? "met" : "NOT MET");
    }
}

static const char usage[] = "usage: bench_core [--repeats N] [--json]\n";

int main(int argc, char **argv)
{
    static struct measured measured[2][CASES];
    int repeats = 7;
    bool json = false;
    const struct bench_option options[] = {
        {.name = "repeats", .number = &repeats, .least = 1, .most = BENCH_REPEATS_MAX},
        {.name = "json", .flag = &json}};
    bench_options(argc, argv, usage, options, sizeof(options) / sizeof(*options));
    for (int kind = 0; kind < 2; kind++) {
        for (int k = 0; k < CASES; k++) {
            struct measured *m = &measured[kind][k];
            for (int r = 0; r < repeats; r++) { /* alternating: the machine's moods hit both */
                bench_add(&m->core, 1 / run_core(known[k], kind, &m->operations));
                bench_add(&m->bare, 1 / run_bare(known[k]));
            }
        }
    }
    if (json)
        report_json(measured);
    else
        report_table(measured);
    return 0;
}

/* policy_bench.h - sites and jobs laid out by hand, for asking policies what they decide. */
#ifndef PLEAT_TESTS_UNIT_POLICY_BENCH_H
#define PLEAT_TESTS_UNIT_POLICY_BENCH_H

#include "test.h"

#include "policy/policies.h"

enum { BENCH_JOBS = 48, BENCH_SITES = 4, BENCH_TIMINGS = 64 };

struct bench {
    struct pleat_component components[BENCH_JOBS];
    struct pleat_site sites[BENCH_SITES];
    struct pleat_buffer buffers[BENCH_JOBS];
    struct pleat_folding foldings[BENCH_JOBS];
    struct pleat_coallocation coallocations[BENCH_JOBS];
    struct pleat_history histories[BENCH_JOBS]; /* rows are the test's */
    struct pleat_size_list list;
    int32_t list_values[8];
    struct pleat_timing timings[BENCH_TIMINGS];
    uint32_t timing_count;
    struct pleat_view view;
    struct pleat_plan plan;
    struct pleat_pass pass;
    uint32_t reserved_last;
    int64_t state[512]; /* of a policy that observes: nothing, here */
};

/* Defaults of the registry, time 1000 s. */
void bench_init(struct bench *bench);
void bench_finish(struct bench *bench);
void bench_policy(struct bench *bench, const struct pleat_policy *policy);
uint32_t bench_site(struct bench *bench, int32_t capacity, int32_t threshold);
/* A running job, started after all those before; its limits; any sizes. */
uint32_t bench_run(struct bench *bench, uint32_t site, enum pleat_job_kind kind, int32_t size,
                   int32_t minimum, int32_t maximum);
/* A waiting job, behind all those before. */
uint32_t bench_wait(struct bench *bench, enum pleat_job_kind kind, int32_t minimum, int32_t maximum,
                    int32_t initial);
/* A running job that folds: `processes` processes on `size` processors, at most mpl on one. */
uint32_t bench_fold(struct bench *bench, uint32_t site, int32_t size, int32_t processes,
                    int32_t mpl, enum pleat_job_class job_class);
/* A waiting job that folds, with `minimum` to `maximum` processes, any number of these. */
uint32_t bench_wait_folding(struct bench *bench, int32_t minimum, int32_t maximum,
                            enum pleat_job_class job_class);
/* What stands beside a job of several components, or with files; for the test to fill in. */
struct pleat_coallocation *bench_coallocation(struct bench *bench, uint32_t component);
/* The most processes that a processor of a folding job may have, as asked; 0: as configured. */
void bench_mpl_max(struct bench *bench, uint32_t component, int mpl);
/* A waiting job is estimated to run `seconds`, a running one to end `seconds` from now (negative:
 * it should have ended). Without: no estimate. */
void bench_estimate(struct bench *bench, uint32_t component, int64_t seconds);
/* A rigid job for which processors are reserved at a site, from `begin` seconds from now on; after
 * those before. */
uint32_t bench_reserve(struct bench *bench, uint32_t site, int32_t size, int64_t begin,
                       int64_t estimate);
/* An iteration of a job takes the given time at a size; sizes of one job in increasing order. */
void bench_timed(struct bench *bench, uint32_t component, int32_t size, int64_t seconds);
/* A running job asks for processes itself; its buffer has the given number of prepared ones. Once
 * for each.
 */
struct pleat_buffer *bench_evolves(struct bench *bench, uint32_t component, int32_t held);
/* Puts a running job into a resize towards `target`. */
void bench_resizing(struct bench *bench, uint32_t component, int32_t target);
/* Sums up the sites as the core does, and begins a plan. Once, after all jobs are there. */
void bench_begin(struct bench *bench);
/* bench_begin, then the approach decides. */
void bench_decide(struct bench *bench);
/* The plan's decision for a job, or NULL. */
const struct pleat_event *bench_decision(const struct bench *bench, uint32_t component);
/* Its size once the plan is carried out (a waiting one's if it starts, else 0). */
int32_t bench_after(const struct bench *bench, uint32_t component);

#endif

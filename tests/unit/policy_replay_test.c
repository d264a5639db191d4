/* Schedules of whole random workloads, job by job, against schedulers written here as the textbooks
 * have them: without the core's indexes, without anything kept from one instant to the next. */
#include "policy_replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { JOBS = 50, SECOND = 1000000 };

/* ---- the textbook ---- */

struct naive {
    const struct replay *how;
    struct replay_job *jobs; /* start_us: what comes out */
    size_t count;
    int64_t now_us;
    int64_t place_us[JOBS]; /* conservative; PLEAT_NEVER: none */
};

static bool is_waiting(const struct naive *n, size_t j)
{
    return n->jobs[j].submit_us <= n->now_us && n->jobs[j].start_us == PLEAT_NEVER;
}

static bool is_running(const struct naive *n, size_t j)
{
    return n->jobs[j].start_us != PLEAT_NEVER &&
           n->jobs[j].start_us + n->jobs[j].run_us > n->now_us;
}

static int64_t expected_run(const struct replay_job *job)
{
    return job->estimate_us ? job->estimate_us : PLEAT_NEVER / 4;
}

static int64_t expected_end(const struct naive *n, size_t j)
{
    int64_t end_us =
        n->jobs[j].estimate_us ? n->jobs[j].start_us + n->jobs[j].estimate_us : PLEAT_NEVER / 4;
    return end_us > n->now_us ? end_us : n->now_us;
}

static int32_t free_now(const struct naive *n)
{
    int32_t free = n->how->processors;
    for (size_t j = 0; j < n->count; j++)
        free -= is_running(n, j) ? n->jobs[j].processors : 0;
    return free;
}

static int64_t rank(const struct naive *n, const struct replay_job *job)
{
    if (!strcmp(n->how->order, "sjf"))
        return job->estimate_us ? job->estimate_us : PLEAT_NEVER;
    if (!strcmp(n->how->order, "ljf"))
        return job->estimate_us ? -job->estimate_us : PLEAT_NEVER;
    if (!strcmp(n->how->order, "priority"))
        return -job->priority;
    if (!strcmp(n->how->order, "edf"))
        return job->due_us ? job->due_us : PLEAT_NEVER;
    return 0;
}

/* The waiting ones in their order; returns how many. */
static size_t queue_of(const struct naive *n, size_t *queue)
{
    size_t length = 0;
    for (size_t j = 0; j < n->count; j++) {
        if (!is_waiting(n, j))
            continue;
        size_t at = length++;
        for (; at > 0 && rank(n, &n->jobs[queue[at - 1]]) > rank(n, &n->jobs[j]); at--)
            queue[at] = queue[at - 1];
        queue[at] = j;
    }
    return length;
}

/* Starts the first ones that fit; returns the place of the one that does not. */
static size_t start_first_ones(struct naive *n, const size_t *queue, size_t length)
{
    size_t at = 0;
    for (; at < length && n->jobs[queue[at]].processors <= free_now(n); at++)
        n->jobs[queue[at]].start_us = n->now_us;
    return at;
}

/* Free at a time if those that run end as expected. */
static int32_t free_then(const struct naive *n, int64_t at_us)
{
    int32_t free = n->how->processors;
    for (size_t j = 0; j < n->count; j++)
        free -= is_running(n, j) && expected_end(n, j) > at_us ? n->jobs[j].processors : 0;
    return free;
}

static void easy(struct naive *n, const size_t *queue, size_t length)
{
    size_t head = start_first_ones(n, queue, length);
    if (head == length)
        return;
    int64_t shadow_us = PLEAT_NEVER;
    for (size_t j = 0; j < n->count; j++)
        if (is_running(n, j) && expected_end(n, j) < shadow_us &&
            free_then(n, expected_end(n, j)) >= n->jobs[queue[head]].processors)
            shadow_us = expected_end(n, j);
    if (shadow_us >= PLEAT_NEVER / 4) /* behind one without an estimate */
        shadow_us = PLEAT_NEVER;
    int32_t extra =
        shadow_us == PLEAT_NEVER ? 0 : free_then(n, shadow_us) - n->jobs[queue[head]].processors;
    for (size_t at = head + 1; at < length; at++) {
        struct replay_job *job = &n->jobs[queue[at]];
        bool in_time = n->now_us + expected_run(job) <= shadow_us && job->estimate_us;
        if (job->processors > free_now(n) || (!in_time && job->processors > extra))
            continue;
        job->start_us = n->now_us;
        extra -= in_time ? 0 : job->processors;
    }
}

/* Free at a time by what runs and by the places of all that wait, but one. */
static int32_t unplaced(const struct naive *n, int64_t at_us, size_t but)
{
    int32_t free = free_then(n, at_us);
    for (size_t j = 0; j < n->count; j++) {
        int64_t place_us = n->place_us[j];
        if (j != but && is_waiting(n, j) && place_us <= at_us &&
            at_us < place_us + expected_run(&n->jobs[j]))
            free -= n->jobs[j].processors;
    }
    return free;
}

/* Does it fit from a time on? Less becomes free only where somebody's place begins. */
static bool fits(const struct naive *n, size_t j, int64_t from_us)
{
    int64_t to_us = from_us + expected_run(&n->jobs[j]);
    bool fit = unplaced(n, from_us, j) >= n->jobs[j].processors;
    for (size_t o = 0; fit && o < n->count; o++)
        if (is_waiting(n, o) && n->place_us[o] > from_us && n->place_us[o] < to_us)
            fit = unplaced(n, n->place_us[o], j) >= n->jobs[j].processors;
    return fit;
}

static int64_t earliest_place(const struct naive *n, size_t j)
{
    int64_t best_us = fits(n, j, n->now_us) ? n->now_us : PLEAT_NEVER / 2;
    for (size_t o = 0; o < n->count; o++) {
        int64_t end_us = is_running(n, o) ? expected_end(n, o)
                         : is_waiting(n, o) && n->place_us[o] < PLEAT_NEVER / 8
                             ? n->place_us[o] + expected_run(&n->jobs[o])
                             : 0;
        if (o != j && end_us > n->now_us && end_us < best_us && end_us < PLEAT_NEVER / 8 &&
            fits(n, j, end_us))
            best_us = end_us;
    }
    return best_us;
}

static void conservative(struct naive *n, const size_t *queue, size_t length)
{
    bool broken = false;
    for (size_t at = 0; at < length; at++)
        broken |= n->place_us[queue[at]] < n->now_us;
    for (size_t at = 0; broken && at < length; at++)
        n->place_us[queue[at]] = PLEAT_NEVER / 2;
    for (size_t at = 0; at < length; at++)
        n->place_us[queue[at]] = earliest_place(n, queue[at]);
    int32_t free = free_now(n);
    for (size_t at = 0; at < length; at++) {
        struct replay_job *job = &n->jobs[queue[at]];
        if (n->place_us[queue[at]] != n->now_us || job->processors > free)
            continue;
        job->start_us = n->now_us;
        free -= job->processors;
    }
}

/* Of the next look at a place: later and later while somebody is stuck behind one that is late. */
static int64_t next_look(const struct naive *n)
{
    int64_t late_us = PLEAT_NEVER;
    bool stuck = false;
    for (size_t j = 0; j < n->count; j++) {
        stuck |= is_waiting(n, j) && n->place_us[j] == n->now_us;
        if (is_running(n, j) && n->jobs[j].estimate_us &&
            n->jobs[j].start_us + n->jobs[j].estimate_us <= n->now_us &&
            n->now_us - n->jobs[j].start_us - n->jobs[j].estimate_us < late_us)
            late_us = n->now_us - n->jobs[j].start_us - n->jobs[j].estimate_us;
    }
    return stuck && late_us != PLEAT_NEVER ? n->now_us + late_us / 16 : n->now_us;
}

static int64_t next_instant(const struct naive *n)
{
    int64_t next_us = PLEAT_NEVER / 8, look_us = next_look(n);
    for (size_t j = 0; j < n->count; j++) {
        const struct replay_job *job = &n->jobs[j];
        int64_t at_us = job->start_us != PLEAT_NEVER ? job->start_us + job->run_us
                        : job->submit_us > n->now_us ? job->submit_us
                                                     : n->place_us[j];
        if (is_waiting(n, j) && at_us > n->now_us && at_us < look_us)
            at_us = look_us;
        if (at_us > n->now_us && at_us < next_us)
            next_us = at_us;
    }
    return next_us;
}

static void naive_run(const struct replay *how, struct replay_job *jobs, size_t count)
{
    struct naive n = {.how = how, .jobs = jobs, .count = count, .now_us = -1};
    for (size_t j = 0; j < count; j++)
        jobs[j].start_us = n.place_us[j] = PLEAT_NEVER;
    for (size_t j = 0; j < count; j++)
        n.place_us[j] = PLEAT_NEVER / 2;
    int64_t next_us;
    while ((next_us = next_instant(&n)) < PLEAT_NEVER / 8) {
        n.now_us = next_us;
        size_t queue[JOBS], length = queue_of(&n, queue);
        if (!strcmp(how->queue, "easy"))
            easy(&n, queue, length);
        else if (!strcmp(how->queue, "conservative"))
            conservative(&n, queue, length);
        else
            (void)start_first_ones(&n, queue, length);
    }
}

/* ---- comparing ---- */

enum estimates { EXACT, ABOVE, ANY, SOME };

static void random_jobs(struct pleat_random *random, struct replay_job *jobs,
                        enum estimates estimates, int32_t processors)
{
    int64_t at_us = 0;
    for (int j = 0; j < JOBS; j++) {
        at_us += (int64_t)pleat_random_below(random, 6) * SECOND; /* often several at one instant */
        int64_t run_us = (int64_t)(1 + pleat_random_below(random, 30)) * SECOND;
        int64_t off_us = (int64_t)pleat_random_below(random, 20) * SECOND;
        jobs[j] = (struct replay_job){
            .submit_us = at_us,
            .run_us = run_us,
            .estimate_us = run_us,
            .due_us = pleat_random_below(random, 3) ? at_us + off_us + SECOND : 0,
            .priority = (int16_t)pleat_random_below(random, 3),
            .processors = 1 + (int32_t)pleat_random_below(random, (uint64_t)processors)};
        if (estimates == ABOVE || (estimates == ANY && pleat_random_below(random, 2)))
            jobs[j].estimate_us += off_us;
        else if (estimates != EXACT && run_us > off_us)
            jobs[j].estimate_us -= off_us;
        if (estimates == SOME && pleat_random_below(random, 3) == 0)
            jobs[j].estimate_us = 0;
    }
}

static void compare(const char *queue, const char *order, enum estimates estimates, uint64_t seeds)
{
    struct replay_job jobs[JOBS], expected[JOBS];
    for (uint64_t seed = 0; seed < seeds; seed++) {
        struct pleat_random random;
        pleat_random_init(&random, seed);
        struct replay how = {.processors = 4 + (int32_t)pleat_random_below(&random, 12),
                             .queue = queue,
                             .order = order,
                             .check = seed < 5};
        random_jobs(&random, jobs, estimates, how.processors);
        memcpy(expected, jobs, sizeof(jobs));
        replay_run(&how, jobs, JOBS);
        naive_run(&how, expected, JOBS);
        for (int j = 0; j < JOBS; j++)
            if (jobs[j].start_us != expected[j].start_us)
                fail_msg("%s, %s, seed %d: job %d of %d starts at %.6f s, in the textbook at %.6f",
                         queue, order, (int)seed, j, JOBS, (double)jobs[j].start_us / SECOND,
                         (double)expected[j].start_us / SECOND);
    }
}

static const char *const orders[] = {"arrival", "sjf", "ljf", "priority", "edf"};

static void test_fcfs(void **state)
{
    (void)state;
    for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++)
        for (int e = EXACT; e <= SOME; e++)
            compare("fcfs", orders[o], (enum estimates)e, 30);
}

static void test_easy(void **state)
{
    (void)state;
    for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++)
        for (int e = EXACT; e <= SOME; e++)
            compare("easy", orders[o], (enum estimates)e, 100);
}

static void test_conservative(void **state)
{
    (void)state;
    for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++)
        for (int e = EXACT; e <= SOME; e++)
            compare("conservative", orders[o], (enum estimates)e, e == ABOVE ? 80 : 20);
}

/* Nobody starts later than he was promised first, unless somebody outran his estimate. */
static void test_conservative_keeps_its_promises(void **state)
{
    (void)state;
    struct replay_job jobs[JOBS];
    int promised = 0, earlier = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct pleat_random random;
        pleat_random_init(&random, seed);
        struct replay how = {.processors = 12, .queue = "conservative", .order = orders[seed % 5]};
        random_jobs(&random, jobs, ABOVE, how.processors);
        replay_run(&how, jobs, JOBS);
        for (int j = 0; j < JOBS; j++) {
            assert_true(jobs[j].start_us <= jobs[j].promised_us);
            promised += jobs[j].promised_us != PLEAT_NEVER;
            earlier += jobs[j].start_us < jobs[j].promised_us;
        }
    }
    assert_true(promised > 3000 && earlier > 500); /* else this says nothing */
}

static void random_reservations(struct pleat_random *random, struct replay_job *jobs)
{
    for (int j = 0; j < JOBS; j++)
        if (pleat_random_below(random, 4) == 0)
            jobs[j].begin_us =
                jobs[j].submit_us + (int64_t)(1 + pleat_random_below(random, 200)) * SECOND;
}

/* As after a recovery: what a policy remembers from pass to pass saves work, and no more. */
static void test_the_same_is_decided_without_memory(void **state)
{
    (void)state;
    static const char *const policies[] = {"easy", "conservative"};
    struct replay_job jobs[JOBS], again[JOBS];
    for (uint64_t seed = 0; seed < 800; seed++) {
        struct pleat_random random;
        pleat_random_init(&random, seed);
        struct replay how = {
            .processors = 12, .queue = policies[seed % 2], .order = orders[seed / 2 % 5]};
        random_jobs(&random, jobs, (enum estimates)(seed / 10 % 4), how.processors);
        if (seed / 40 % 2)
            random_reservations(&random, jobs);
        memcpy(again, jobs, sizeof(jobs));
        replay_run(&how, jobs, JOBS);
        how.forgets = true;
        replay_run(&how, again, JOBS);
        for (int j = 0; j < JOBS; j++)
            if (jobs[j].start_us != again[j].start_us ||
                jobs[j].promised_us != again[j].promised_us)
                fail_msg("%s, %s, seed %d: job %d", how.queue, how.order, (int)seed, j);
    }
}

/* Each reservation starts when it was to begin, whoever else wants to run. */
static void test_reservations_are_kept(void **state)
{
    (void)state;
    static const char *const policies[] = {"fcfs", "scan", "easy", "conservative"};
    struct replay_job jobs[JOBS];
    int kept = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct pleat_random random;
        pleat_random_init(&random, seed);
        struct replay how = {.processors = 12,
                             .queue = policies[seed % 4],
                             .order = orders[seed / 4 % 5],
                             .check = seed < 20};
        random_jobs(&random, jobs, seed % 3 ? ABOVE : EXACT, how.processors);
        random_reservations(&random, jobs);
        replay_run(&how, jobs, JOBS);
        for (int j = 0; j < JOBS; j++) {
            assert_int_not_equal(jobs[j].start_us, PLEAT_NEVER);
            if (jobs[j].begin_us && jobs[j].start_us != jobs[j].begin_us)
                fail_msg("%s, seed %d: job %d starts at %.6f s, reserved for %.6f", how.queue,
                         (int)seed, j, (double)jobs[j].start_us / SECOND,
                         (double)jobs[j].begin_us / SECOND);
            kept += jobs[j].begin_us != 0;
        }
    }
    assert_true(kept > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fcfs),
        cmocka_unit_test(test_easy),
        cmocka_unit_test(test_conservative),
        cmocka_unit_test(test_conservative_keeps_its_promises),
        cmocka_unit_test(test_the_same_is_decided_without_memory),
        cmocka_unit_test(test_reservations_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

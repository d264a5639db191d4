/* Random workloads on random platforms, everything that can happen happening: the core recounts
 * itself after every event, and what the simulator tells is counted again from the changes. */
#include <math.h>
#include <pthread.h>

#include "base/random.h"
#include "sim_fixture.h"

enum { WORLDS = 200, JOBS = 120 };

static int32_t from_to(struct pleat_random *random, int32_t least, int32_t most)
{
    return least + (int32_t)pleat_random_below(random, (uint64_t)(most - least + 1));
}

static bool one_in(struct pleat_random *random, uint64_t n)
{
    return pleat_random_below(random, n) == 0;
}

static int64_t seconds(struct pleat_random *random, int32_t most)
{
    return (int64_t)pleat_random_below(random, (uint64_t)(most * S));
}

/* ---- worlds ---- */

/* Run times on up to 12 sizes. */
static void make_table(struct sim_world *world, struct pleat_random *random, struct pleat_app *app)
{
    struct pleat_table_row row = {0, 0};
    app->speedup.kind = PLEAT_SPEEDUP_TABLE;
    app->speedup.first = (uint32_t)world->workload.table.count;
    app->speedup.count = (uint32_t)from_to(random, 1, 12);
    for (uint32_t i = 0; i < app->speedup.count; i++) {
        row.processors += from_to(random, 1, 3);
        row.run_us = S + seconds(random, 100) / row.processors;
        assert_int_equal(pleat_array_push(&world->workload.table, row), 0);
    }
}

static void make_apps(struct sim_world *world, struct pleat_random *random)
{
    for (int i = 0; i < 8; i++) {
        struct pleat_app app = {0};
        app.speedup.kind = one_in(random, 2) ? PLEAT_SPEEDUP_AMDAHL : PLEAT_SPEEDUP_DOWNEY;
        app.speedup.serial = 0.02;
        app.speedup.parallelism = 6;
        app.speedup.sigma = 0.5;
        app.cost.fixed_us = one_in(random, 2) ? seconds(random, 5) : 0;
        app.adapt_us = one_in(random, 3) ? 1 + seconds(random, 20) : 0;
        app.iterations = one_in(random, 3) ? from_to(random, 1, 30) : 0;
        app.mpl_overhead = 0.1;
        if (one_in(random, 3))
            make_table(world, random, &app);
        if (one_in(random, 4)) {
            struct pleat_phase phases[] = {{0.3, 1, from_to(random, 2, 8)},
                                           {0.6, from_to(random, 2, 6), 12}};
            app.first_phase = (uint32_t)world->workload.phases.count;
            app.phase_count = 2;
            for (int p = 0; p < 2; p++)
                assert_int_equal(pleat_array_push(&world->workload.phases, phases[p]), 0);
        } else if (one_in(random, 4)) {
            app.component = from_to(random, 1, 3);
            app.work = from_to(random, 1, 20);
        }
        (void)sim_world_app(world, app);
    }
}

/* Some applications ask for processors, but none must have them: one that waits for processors
 * stands still without a change of its size, and from these changes its work is computed again
 * below. Drawn from random numbers of their own, so that the rest of each world does not depend on
 * them. */
static void make_asks(struct sim_world *world, uint64_t seed)
{
    struct pleat_random random;
    pleat_random_init(&random, ~seed);
    for (size_t a = 0; a < world->workload.apps.count; a++) {
        struct pleat_app *app = &world->workload.apps.items[a];
        if (app->component > 0 || app->phase_count > 0 || !one_in(&random, 3))
            continue;
        app->first_ask = (uint32_t)world->workload.asks.count;
        for (double at = pleat_random_unit(&random); at < 1;
             at += 0.01 + pleat_random_unit(&random)) {
            int32_t change = from_to(&random, 1, 6);
            struct pleat_workload_ask ask = {at, one_in(&random, 3) ? -change : change, 0};
            assert_int_equal(pleat_array_push(&world->workload.asks, ask), 0);
            app->ask_count++;
        }
    }
}

/* Applications without sections cannot go on without every second growth that they ask for. */
static void must_have(struct sim_world *world)
{
    for (size_t a = 0; a < world->workload.apps.count; a++) {
        const struct pleat_app *app = &world->workload.apps.items[a];
        for (uint32_t i = 0; app->sections == 0 && i < app->ask_count; i += 2) {
            struct pleat_workload_ask *ask = &world->workload.asks.items[app->first_ask + i];
            ask->must = ask->change > 0;
        }
    }
}

/* Some must not be resized at times. */
static void make_sections(struct sim_world *world, uint64_t seed)
{
    struct pleat_random random;
    pleat_random_init(&random, seed << 32);
    for (size_t a = 0; a < world->workload.apps.count; a++) {
        struct pleat_app *app = &world->workload.apps.items[a];
        if (app->component > 0 || !one_in(&random, 3))
            continue;
        app->sections = from_to(&random, 1, 12);
        app->section_share = (0.01 + 0.98 * pleat_random_unit(&random)) / app->sections;
    }
}

static void make_jobs(struct sim_world *world, struct pleat_random *random)
{
    int64_t at = 0;
    for (int i = 0; i < JOBS; i++) {
        at += one_in(random, 3) ? 0 : (int64_t)pleat_random_below(random, 20);
        int32_t size = from_to(random, 1, 8);
        struct pleat_workload_job *job = sim_rigid(world, at, size, 0);
        job->run_us = S + seconds(random, 100);
        job->estimate_us = one_in(random, 3) ? 0 : S + seconds(random, 120);
        if (job->estimate_us > 0 && world->options.estimates == PLEAT_ESTIMATES_GIVEN &&
            one_in(random, 20))
            job->run_us = 0;
        job->priority = (int16_t)from_to(random, -2, 2);
        job->deadline_us = one_in(random, 8) ? job->submit_us + 1 + seconds(random, 400) : 0;
        job->begin_us = one_in(random, 20) ? job->submit_us + 1 + seconds(random, 200) : 0;
        if (one_in(random, 10))
            job->site = 0;
        if (one_in(random, 3))
            continue;
        job->kind = one_in(random, 4) ? PLEAT_MOLDABLE : PLEAT_MALLEABLE;
        job->app = (uint32_t)pleat_random_below(random, world->workload.apps.count);
        job->minimum = from_to(random, 1, size);
        job->maximum = from_to(random, size, 3 * size);
        if (one_in(random, 3))
            job->initial = from_to(random, job->minimum, job->maximum);
        const struct pleat_app *app = &world->workload.apps.items[job->app];
        if (app->component > 0) {
            job->kind = PLEAT_MALLEABLE;
            job->sizes_kind = PLEAT_SIZES_MULTIPLES;
            job->sizes_parameter = app->component;
            job->minimum = job->processors = app->component;
            job->maximum = 6 * app->component;
            job->initial = 0;
        } else if (app->phase_count > 0) {
            job->kind = PLEAT_MALLEABLE;
        } else if (one_in(random, 4)) {
            job->processes = job->maximum;
        } else if (one_in(random, 3)) {
            job->kind = PLEAT_MALLEABLE;
            job->mpl_max = (uint8_t)from_to(random, 1, 5);
            job->job_class = (uint8_t)from_to(random, 0, 2);
        }
        if (app->speedup.kind == PLEAT_SPEEDUP_TABLE && app->component == 0) {
            job->sizes_kind = PLEAT_SIZES_LIST;
            if (pleat_workload_check_job(&world->workload, job, NULL))
                job->sizes_kind = PLEAT_SIZES_ANY; /* none is within its limits */
        }
    }
}

/* Makes two jobs in a row the components of one. */
static void join_some(struct sim_world *world, struct pleat_random *random)
{
    struct pleat_workload_job *jobs = world->workload.jobs.items;
    for (int i = 0; i + 1 < JOBS; i++) {
        if (!one_in(random, 6))
            continue;
        jobs[i].part = PLEAT_PART_FOLLOWS;
        jobs[i + 1].submit_us = jobs[i].submit_us;
        jobs[i].begin_us = jobs[i + 1].begin_us = 0;
        jobs[i].site = jobs[i + 1].site = PLEAT_NONE;
        i++;
    }
}

static struct pleat_delay delay(struct pleat_random *random)
{
    struct pleat_delay none = {0};
    return one_in(random, 2) ? none : (struct pleat_delay){seconds(random, 5), seconds(random, 3)};
}

static void make_site(struct pleat_sim_site *site, struct pleat_random *random, bool calm)
{
    site->slots = from_to(random, 1, 4);
    site->nodes = from_to(random, 24, 48) / site->slots;
    site->speed = one_in(random, 2) ? 1 : 0.5 + pleat_random_unit(random);
    if (calm)
        return;
    site->threshold = from_to(random, 0, 4);
    if (one_in(random, 2)) {
        site->claim = delay(random);
        site->start = delay(random);
        site->grow = delay(random);
        site->release = delay(random);
    }
    site->failure.kind = (enum pleat_failure_kind)from_to(random, 0, PLEAT_FAILURE_CLAIM);
    site->failure.probability = 0.2;
    site->failure.between_us = 1500 * S;
    site->failure.repair_us = 200 * S;
    if (one_in(random, 3)) {
        site->load_gap_us = 30 * S;
        site->load_run_us = 60 * S;
        site->load_processors = 6;
    } else if (one_in(random, 2)) {
        for (int i = 0; i < 20; i++) {
            struct pleat_load_point point = {i * 50 * S, i < 19 ? from_to(random, 0, 40) : 0};
            assert_int_equal(pleat_array_push(&site->trace, point), 0);
        }
    }
}

static void choose_policies(struct sim_world *world, struct pleat_random *random)
{
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        uint64_t seen = 0;
        const struct pleat_policy *policy;
        for (size_t i = 0; (policy = pleat_policy_at(i)); i++)
            if (policy->question == (enum pleat_question)q &&
                pleat_random_below(random, ++seen) == 0)
                world->options.policies[q] = policy;
    }
}

/* Some sites are of batch systems, where others' jobs wait in the same queue. Drawn apart, so that
 * nothing else of the worlds depends on it. */
static void make_queues(struct sim_world *world, uint64_t seed)
{
    struct pleat_random random;
    pleat_random_init(&random, seed + 90000);
    for (size_t s = 0; s < world->platform.sites.count; s++) {
        struct pleat_sim_site *site = sim_world_site(world, s);
        if (!one_in(&random, 3))
            continue;
        site->queue = one_in(&random, 3) ? PLEAT_QUEUE_FCFS : PLEAT_QUEUE_EASY;
        site->trace.count = 0;
        site->load_estimate = 1 + 3 * pleat_random_unit(&random);
        site->limit_us = one_in(&random, 2) ? seconds(&random, 3000) + S : 0;
        site->leave_us = one_in(&random, 2) ? 0 : seconds(&random, 40);
        site->queue_us = one_in(&random, 3) ? seconds(&random, 300) + S : 86400 * S;
        int64_t at_us = 0;
        for (int i = from_to(&random, 0, 40); i > 0; i--) {
            struct pleat_other_job job = {.submit_us = at_us += seconds(&random, 60),
                                          .run_us = seconds(&random, 200),
                                          .processors = from_to(&random, 1, 24)};
            if (job.processors > site->nodes * site->slots)
                job.processors = 1;
            job.limit_us = 1 + job.run_us / 2 + (int64_t)pleat_random_below(&random, 400 * S);
            assert_int_equal(pleat_array_push(&site->others, job), 0);
        }
    }
}

static struct sim_world *make_world(uint64_t seed)
{
    struct pleat_random random;
    struct sim_world *world = sim_world_create(1);
    pleat_random_init(&random, seed);
    bool calm = seed % 3 == 0;
    int sites = from_to(&random, 1, 3);
    for (int s = 1; s < sites; s++)
        assert_int_equal(pleat_platform_add(&world->platform, "more", 1), 0);
    for (int s = 0; s < sites; s++)
        make_site(sim_world_site(world, (size_t)s), &random, calm);
    if (sites > 1 && !calm && one_in(&random, 2)) {
        sim_world_site(world, 1)->joins_us = 200 * S;
        if (one_in(&random, 2))
            sim_world_site(world, 1)->leaves_us = 600 * S;
    }
    world->options.estimates = one_in(&random, 3) ? PLEAT_ESTIMATES_EXACT : PLEAT_ESTIMATES_GIVEN;
    make_apps(world, &random);
    make_asks(world, seed);
    make_sections(world, seed);
    make_jobs(world, &random);
    join_some(world, &random);
    if (!calm)
        make_queues(world, seed);
    choose_policies(world, &random);
    world->options.kill_at_estimate = one_in(&random, 4);
    if (one_in(&random, 4))
        world->options.parameters[PLEAT_PARAM_LIFETIME_US] =
            1 + (int64_t)pleat_random_below(&random, 1000000000);
    world->options.parameters[PLEAT_PARAM_MAX_TRIES] = !calm && one_in(&random, 4) ? 200 : 0;
    world->options.seed = seed;
    return world;
}

/* ---- counting again ---- */

static bool stays(const struct sim_world *world, size_t site)
{
    return world->platform.sites.items[site].leaves_us == PLEAT_NEVER;
}

static void count_jobs(const struct sim_world *world)
{
    size_t fates[PLEAT_SIM_LEFT + 1] = {0};
    for (size_t i = 0; i < JOBS; i++) {
        const struct pleat_sim_outcome *outcome = &world->outcomes[i];
        const struct pleat_workload_job *job = &world->workload.jobs.items[i];
        assert_true(outcome->fate <= PLEAT_SIM_LEFT);
        fates[outcome->fate]++;
        bool started = outcome->start_us != PLEAT_NEVER;
        if (world->platform.sites.count == 1 || stays(world, 1))
            assert_true(outcome->fate != PLEAT_SIM_LEFT);
        if (outcome->fate == PLEAT_SIM_DONE || outcome->fate == PLEAT_SIM_KILLED) {
            assert_true(started && outcome->start_us >= job->submit_us);
            assert_true(outcome->end_us >= outcome->start_us && outcome->end_us != PLEAT_NEVER);
        }
        if (outcome->fate == PLEAT_SIM_DONE && job->kind == PLEAT_RIGID) {
            double speed = world->platform.sites.items[outcome->site].speed;
            assert_int_equal(outcome->end_us - outcome->start_us,
                             llround((double)job->run_us / speed));
            assert_true(outcome->average == (float)job->processors);
        }
        if (outcome->fate == PLEAT_SIM_DONE && job->begin_us > 0 && outcome->restarts == 0)
            assert_true(outcome->start_us >= job->begin_us);
        if (outcome->fate == PLEAT_SIM_SKIPPED || outcome->fate == PLEAT_SIM_REJECTED)
            assert_true(!started && outcome->end_us == PLEAT_NEVER);
    }
    assert_memory_equal(fates, world->totals.fates, sizeof(fates));
}

/* Who takes the sizes of a table never has another. */
static void check_size(const struct sim_world *world, const struct pleat_sim_change *change)
{
    const struct pleat_workload_job *job = &world->workload.jobs.items[change->job];
    const struct pleat_speedup *speedup = &world->workload.apps.items[job->app].speedup;
    bool found = job->sizes_kind != PLEAT_SIZES_LIST || change->to == 0;
    if (job->mpl_max > 0 && change->to > 0)
        assert_true(change->processes >= change->to &&
                    change->processes <= change->to * (job->mpl_max < 4 ? job->mpl_max : 4));
    else
        assert_int_equal(change->processes, change->to);
    for (uint32_t i = 0; !found && i < speedup->count; i++)
        found = world->workload.table.items[speedup->first + i].processors == change->processes;
    assert_true(found);
}

static void count_processors(const struct sim_world *world)
{
    int64_t used[8] = {0}, now = world->totals.begin_us;
    int32_t sizes[JOBS] = {0};
    uint32_t grown[JOBS] = {0}, shrunk[JOBS] = {0};
    double busy = 0;
    for (size_t i = 0; i < world->change_count; i++) {
        const struct pleat_sim_change *change = &world->changes[i];
        const struct pleat_sim_site *site = &world->platform.sites.items[change->site];
        assert_true(change->time_us >= now);
        assert_true(change->decided_us <= change->time_us);
        for (size_t s = 0; s < world->platform.sites.count; s++)
            busy += (double)(change->time_us - now) * (double)used[s];
        now = change->time_us;
        assert_int_equal(change->from, sizes[change->job]);
        check_size(world, change);
        sizes[change->job] = change->to;
        used[change->site] += change->to - change->from;
        grown[change->job] += change->from > 0 && change->to > change->from;
        shrunk[change->job] += change->to > 0 && change->to < change->from;
        assert_in_range(used[change->site], 0, (uint64_t)(site->nodes * site->slots));
    }
    assert_true(fabs(busy - world->totals.busy_us) <= 1e-9 * busy);
    assert_true(world->totals.busy_us + world->totals.background_us <=
                world->totals.capacity_us * (1 + 1e-9));
    for (size_t i = 0; i < JOBS; i++) {
        assert_int_equal(sizes[i], 0);
        assert_int_equal(
            grown[i], world->outcomes[i].fate == PLEAT_SIM_SKIPPED ? 0 : world->outcomes[i].grown);
        assert_int_equal(shrunk[i], world->outcomes[i].shrunk);
    }
}

/* ---- doing their work again ---- */

struct worker { /* a job's present run */
    int64_t begun_us, since_us;
    int32_t size, processes;
    double done, slack; /* shares of its work; what rounding may have cost */
    int64_t pieces[64]; /* component-and-work: when each component began its piece */
    int32_t components, completed;
    int64_t ended_us; /* when the last piece was done */
};

static double speed_at(const struct sim_world *world, uint32_t site)
{
    return world->platform.sites.items[site].speed;
}

/* Pieces that are done by then, one after the other. */
static void do_pieces(struct worker *worker, int64_t piece_us, int32_t work, int64_t until_us)
{
    for (;;) {
        int32_t first = -1;
        for (int32_t c = 0; c < worker->components; c++)
            if (first < 0 || worker->pieces[c] < worker->pieces[first])
                first = c;
        if (first < 0 || worker->pieces[first] + piece_us > until_us)
            return;
        worker->pieces[first] += piece_us;
        if (++worker->completed == work)
            worker->ended_us = worker->pieces[first];
    }
}

/* Components come, or those that began last go. */
static void set_components(struct worker *worker, int32_t count, int64_t now_us)
{
    while (worker->components < count)
        worker->pieces[worker->components++] = now_us;
    while (worker->components > count) {
        int32_t last = 0;
        for (int32_t c = 1; c < worker->components; c++)
            if (worker->pieces[c] > worker->pieces[last])
                last = c;
        worker->pieces[last] = worker->pieces[--worker->components];
    }
}

/* Its work up to a change of its size, and whether the change came where it may. */
static void work_on(const struct sim_world *world, const struct pleat_sim_change *change,
                    struct worker *worker)
{
    const struct pleat_workload_job *job = &world->workload.jobs.items[change->job];
    const struct pleat_app *app = &world->workload.apps.items[job->app];
    double speed = speed_at(world, change->site);
    int64_t stopped_us = change->time_us - change->stood_us;
    if (app->component > 0) {
        int64_t piece_us = llround((double)job->run_us / speed);
        do_pieces(worker, piece_us > 0 ? piece_us : 1, app->work, change->time_us);
        assert_int_equal(change->stood_us, 0);
    } else if (worker->size > 0) {
        double all = pleat_workload_run_time(&world->workload, job, worker->size,
                                             job->mpl_max > 0 ? worker->processes : job->processes);
        worker->done += (double)(stopped_us - worker->since_us) * speed / (all > 0 ? all : 1);
        worker->slack += 1.5 * speed / (all > 0 ? all : 1);
    }
    if (change->to == 0)
        return;
    assert_true(stopped_us >= worker->since_us);
    if (app->adapt_us > 0 && app->component == 0)
        assert_int_equal((stopped_us - worker->begun_us) % app->adapt_us, 0);
    else if (app->iterations > 0 && app->component == 0) {
        double part = worker->done * app->iterations;
        assert_true(fabs(part - round(part)) <= 2 * worker->slack * app->iterations);
    }
}

static void check_work(const struct sim_world *world)
{
    struct worker *workers = calloc(JOBS, sizeof(*workers));
    assert_non_null(workers);
    for (size_t i = 0; i < world->change_count; i++) {
        const struct pleat_sim_change *change = &world->changes[i];
        struct worker *worker = &workers[change->job];
        const struct pleat_workload_job *job = &world->workload.jobs.items[change->job];
        const struct pleat_app *app = &world->workload.apps.items[job->app];
        if (change->from == 0)
            *worker = (struct worker){.begun_us = change->time_us, .ended_us = PLEAT_NEVER};
        else
            work_on(world, change, worker);
        worker->size = change->to;
        worker->processes = change->processes;
        worker->since_us = change->time_us;
        if (app->component > 0 && change->to > 0)
            set_components(worker, change->to / app->component, change->time_us);
    }
    for (size_t i = 0; i < JOBS; i++) {
        const struct pleat_workload_job *job = &world->workload.jobs.items[i];
        if (world->outcomes[i].fate != PLEAT_SIM_DONE)
            continue;
        if (world->workload.apps.items[job->app].component > 0)
            assert_int_equal(world->outcomes[i].end_us, workers[i].ended_us);
        else if (job->run_us > 0)
            assert_true(fabs(workers[i].done - 1) <= workers[i].slack);
    }
    free(workers);
}

static size_t count_kind(const struct pleat_events *log, uint16_t kind)
{
    size_t count = 0;
    for (size_t i = 0; i < log->count; i++)
        count += log->items[i].kind == kind;
    return count;
}

static void test_random_worlds(void **state)
{
    (void)state;
    size_t fates[PLEAT_SIM_LEFT + 1] = {0};
    uint64_t resizes = 0, restarts = 0, granted = 0, refused = 0, gifts = 0;
    uint64_t sections = 0, put_off = 0, allocations = 0, expired = 0, queued = 0, later = 0;
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct sim_world *world = make_world(seed);
        struct pleat_events log = {0};
        world->options.log = &log;
        if (sim_try(world))
            fail_msg("world %llu: %s", (unsigned long long)seed, world->err.text);
        later += count_kind(&log, PLEAT_EV_NODE_HOME);
        pleat_array_finish(&log);
        count_jobs(world);
        count_processors(world);
        check_work(world);
        for (int f = 0; f <= PLEAT_SIM_LEFT; f++)
            fates[f] += world->totals.fates[f];
        resizes += world->totals.grows + world->totals.shrinks;
        granted += world->totals.asks_granted + world->totals.asks_partly;
        refused += world->totals.asks_refused;
        gifts += world->totals.gifts;
        sections += world->totals.sections;
        put_off += world->totals.put_off;
        allocations += world->totals.allocations;
        expired += world->totals.expired;
        queued += world->totals.queued_us > 0;
        assert_true(world->totals.asks >= world->totals.asks_granted + world->totals.asks_partly +
                                              world->totals.asks_refused);
        for (size_t i = 0; i < JOBS; i++)
            restarts += world->outcomes[i].restarts;
        sim_world_destroy(world);
    }
    print_message("done %zu skipped %zu rejected %zu failed %zu killed %zu left %zu, %llu resizes, "
                  "%llu restarts\n",
                  fates[PLEAT_SIM_DONE], fates[PLEAT_SIM_SKIPPED], fates[PLEAT_SIM_REJECTED],
                  fates[PLEAT_SIM_FAILED], fates[PLEAT_SIM_KILLED], fates[PLEAT_SIM_LEFT],
                  (unsigned long long)resizes, (unsigned long long)restarts);
    /* otherwise the worlds are too tame to show anything */
    assert_true(resizes > 1000 && restarts > 100 && fates[PLEAT_SIM_KILLED] > 10);
    print_message("asks: %llu granted, %llu refused; %llu times some given back\n",
                  (unsigned long long)granted, (unsigned long long)refused,
                  (unsigned long long)gifts);
    assert_true(granted > 10 && refused > 10 && gifts > 10);
    print_message("%llu sections, %llu resizes taken back for one\n", (unsigned long long)sections,
                  (unsigned long long)put_off);
    assert_true(sections > 100 && put_off > 10);
    print_message("%llu allocations, %llu of them over their limit; waited in %llu worlds\n",
                  (unsigned long long)allocations, (unsigned long long)expired,
                  (unsigned long long)queued);
    assert_true(allocations > 1000 && expired > 10 && queued > 10);
    print_message("%llu of them on the host of an earlier one\n", (unsigned long long)later);
    assert_true(later > 10);
}

/* The same seed gives the same bytes, another one does not where chance has a say; and what was
 * logged is decided again the same way. */
static void test_the_same_again(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct sim_world *world = make_world(seed), *twin = make_world(seed);
        struct pleat_events logs[2] = {{0}};
        struct pleat_replay_result result;
        world->options.check = twin->options.check = false;
        must_have(world);
        must_have(twin);
        world->options.log = &logs[0];
        twin->options.log = &logs[1];
        sim_run(world);
        sim_run(twin);
        assert_int_equal(logs[0].count, logs[1].count);
        assert_memory_equal(logs[0].items, logs[1].items, logs[0].count * sizeof(*logs[0].items));
        assert_memory_equal(world->outcomes, twin->outcomes, JOBS * sizeof(*world->outcomes));
        assert_memory_equal(&world->totals, &twin->totals, sizeof(world->totals));
        if (pleat_replay_policies(logs[0].items, logs[0].count, &result, &world->err))
            fail_msg("world %llu: %s", (unsigned long long)seed, world->err.text);
        assert_int_equal(result.different, logs[0].count);
        assert_int_equal(result.passes, world->totals.passes);
        assert_int_equal(result.decisions, world->totals.decisions);
        assert_int_equal(logs[0].count,
                         world->totals.inputs + world->totals.passes + world->totals.decisions);
        pleat_array_finish(&logs[0]);
        pleat_array_finish(&logs[1]);
        sim_world_destroy(world);
        sim_world_destroy(twin);
    }
}

/* Takes all delays from its sites. What goes by the numbers of claims must not happen: whom a
 * failure hits, and who stands in front of whom after their site has left. */
static void hurry(struct sim_world *world)
{
    for (size_t s = 0; s < world->platform.sites.count; s++) {
        struct pleat_sim_site *site = sim_world_site(world, s);
        site->claim = site->start = site->grow = site->release = (struct pleat_delay){0, 0};
        site->failure.kind = PLEAT_FAILURE_NONE;
        site->leaves_us = PLEAT_NEVER;
    }
}

/* None of its jobs can be resized: the case in which passes are saved, see pleat_policy.settles. */
static void stiffen(struct sim_world *world)
{
    for (size_t i = 0; i < JOBS; i++) {
        struct pleat_workload_job *job = &world->workload.jobs.items[i];
        job->mpl_max = 0;
        if (job->kind == PLEAT_MALLEABLE)
            job->kind = PLEAT_MOLDABLE;
        if (pleat_workload_check_job(&world->workload, job, NULL)) {
            job->kind = PLEAT_RIGID;
            job->sizes_kind = PLEAT_SIZES_ANY;
            job->app = 0;
            job->minimum = job->maximum = job->processors;
            job->initial = 0;
        }
    }
}

static struct sim_world *make_quick_world(uint64_t seed)
{
    struct sim_world *world = make_world(seed);
    hurry(world);
    if (seed % 2)
        stiffen(world);
    if (seed % 8 == 1) { /* what EASY remembers, and sizes that go by who else waits */
        world->options.policies[PLEAT_QUEUE] = pleat_policy_find(PLEAT_QUEUE, "easy");
        world->options.policies[PLEAT_MOLDABILITY] = pleat_policy_find(PLEAT_MOLDABILITY, "psa");
        world->options.policies[PLEAT_ORDER] = NULL;
    }
    world->options.check = false;
    return world;
}

/* What is not asked of a site that answers at once (PLEAT_SITE_INSTANT) changes nothing.
 * Conservative backfilling is left out: it moves places at every pass, and where sites are asked
 * there are more. */
static void test_a_site_that_is_not_asked(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4 * WORLDS; seed++) {
        struct sim_world *world = make_quick_world(seed), *twin = make_quick_world(seed);
        twin->options.asks_all_sites = true;
        if (!strcmp(world->options.policies[PLEAT_QUEUE]->name, "conservative"))
            world->options.policies[PLEAT_QUEUE] = twin->options.policies[PLEAT_QUEUE] = NULL;
        sim_run(world);
        sim_run(twin);
        for (size_t i = 0; i < JOBS; i++) {
            const struct pleat_sim_outcome *one = &world->outcomes[i], *other = &twin->outcomes[i];
            if (memcmp(one, other, sizeof(*one)))
                fail_msg("world %llu, job %zu: %lld to %lld at %u on %d, asked: %lld to %lld at %u "
                         "on %d",
                         (unsigned long long)seed, i, (long long)one->start_us,
                         (long long)one->end_us, one->site, one->processors,
                         (long long)other->start_us, (long long)other->end_us, other->site,
                         other->processors);
        }
        sim_world_destroy(world);
        sim_world_destroy(twin);
    }
}

static void *run_one(void *world)
{
    struct sim_world *one = world;
    return pleat_sim_run(&one->workload, &one->options, one->outcomes, &one->totals, &one->err)
               ? one->err.text
               : NULL;
}

/* Runs share nothing: side by side they give what they give one after the other. */
static void test_side_by_side(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    struct sim_world *worlds[THREADS];
    for (uint64_t t = 0; t < THREADS; t++) {
        worlds[t] = make_world(t + 1);
        worlds[t]->options.on_change = NULL;
        assert_int_equal(pthread_create(&threads[t], NULL, run_one, worlds[t]), 0);
    }
    for (uint64_t t = 0; t < THREADS; t++) {
        struct sim_world *alone = make_world(t + 1);
        void *failure;
        sim_run(alone);
        assert_int_equal(pthread_join(threads[t], &failure), 0);
        assert_null(failure);
        assert_memory_equal(alone->outcomes, worlds[t]->outcomes, JOBS * sizeof(*alone->outcomes));
        assert_memory_equal(&alone->totals, &worlds[t]->totals, sizeof(alone->totals));
        sim_world_destroy(alone);
        sim_world_destroy(worlds[t]);
    }
}

static void test_a_changed_decision_is_found(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_create(4);
    struct pleat_events log = {0};
    struct pleat_replay_result result;
    sim_malleable(world, 0, 1, 4, 100, 0);
    sim_rigid(world, 10, 3, 10);
    world->options.log = &log;
    sim_run(world);
    size_t changed = 0;
    while (log.items[changed].kind != PLEAT_EV_RESIZE)
        changed++;
    log.items[changed].u.resize.processors++;
    assert_int_equal(pleat_replay_policies(log.items, log.count, &result, &world->err), 0);
    assert_int_equal(result.different, changed);
    pleat_array_finish(&log);
    sim_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_worlds),
        cmocka_unit_test(test_the_same_again),
        cmocka_unit_test(test_a_site_that_is_not_asked),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_a_changed_decision_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

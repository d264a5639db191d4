#include "agent/fold_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/fold_partition.h"
#include "agent/fold_tell.h"
#include "agent/log.h"
#include "agent/owner.h"
#include "base/clock.h"

#define OFTEN_US INT64_C(10000)
#define WATCH_US INT64_C(100000)
#define SELDOM_US INT64_C(500000)
/* Looking at a process costs about a microsecond. With this time between looks for each process,
 * looking takes at most a tenth of a processor. */
#define EACH_US 10
/* Programs call MPI_Init soon or never: after the first time they are looked at less often. */
#define ATTACH_SOON_US (30 * PLEAT_US_PER_S)
#define ATTACH_LAST_US (2 * PLEAT_US_PER_S)
/* Clean looks after which processors count as given up. One clean look is not enough: a process
 * that has not yet seen the change may still move another one. */
#define CLEAN_LOOKS 2
#define STRAY_LOOKS 200
#define CHAIN_MAX 64
#define BOOST (-10)
#define SPREADS_MAX 4

/* ---- which processes have attached? ---- */

/* The pid in a slot is whatever a process wrote there. It counts only where that process descends
 * from the run's reaper, or from its main process where the reaper was killed. */
static bool is_of_run(const struct pleat_run *run, pid_t pid, uint64_t *start)
{
    struct pleat_process_entry process;
    if (pleat_process_tree_read_one(run->agent->proc, pid, &process) ||
        pleat_process_tree_is_dead(&process))
        return false;
    *start = process.start;
    for (int length = 0; length < CHAIN_MAX; length++) {
        if (process.pid == run->now.reaper ||
            (run->now.session && process.session == run->now.session))
            return true;
        if (process.parent <= 1 || process.pid == run->agent->pid ||
            pleat_process_tree_read_one(run->agent->proc, process.parent, &process))
            return false;
    }
    return false;
}

static int64_t processor_ns(const struct pleat_folded_member *member)
{
    struct timespec now;
    if (!member->has_clock || clock_gettime(member->clock, &now))
        return member->cpu_ns;
    int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    return ns > member->cpu_ns ? ns : member->cpu_ns;
}

static void leave(struct pleat_folded *folded, struct pleat_folded_member *member)
{
    folded->gone_ns += member->useful;
    memset(member, 0, sizeof(*member));
}

static void attach(struct pleat_folded *folded, uint32_t index, int64_t now_us)
{
    struct pleat_folded_member *member = &folded->members[index];
    const struct pleat_fold_process *said = &folded->seen[index];
    leave(folded, member); /* another process may have been in this slot */
    if (!is_of_run(folded->run, said->pid, &member->start)) {
        member->refused = said->pid;
        pleat_log("run %" PRIu64 " (job %s): process %d says it is one of its folded ones, and is "
                  "none of its processes: it is left alone",
                  folded->run->id, folded->run->job, (int)said->pid);
        return;
    }
    member->pid = said->pid;
    member->tid = said->tid;
    member->has_clock = clock_getcpuclockid(said->pid, &member->clock) == 0;
    member->cpu_ns = processor_ns(member);
    member->compared_ns = member->cpu_ns;
    member->said = said->useful_ns;
    member->waiting = said->waiting;
    errno = 0;
    member->nice = getpriority(PRIO_PROCESS, (id_t)member->tid);
    folded->attached_us = now_us;
    /* the processor time of this process until now must not count as its use since the last look */
    folded->contended_us = 0;
    pleat_folded_pin(folded, index);
}

/* Updates the useful time of a process. A process reports it when it begins or ends to wait. Where
 * it did neither between two looks and was not waiting, all of its processor time was useful. */
static void measure(struct pleat_folded_member *member, const struct pleat_fold_process *said)
{
    int64_t cpu_ns = processor_ns(member);
    uint64_t used = (uint64_t)(cpu_ns - member->cpu_ns);
    if (said->useful_ns != member->said) {
        uint64_t more = said->useful_ns - member->said;
        member->useful += more > member->ahead ? more - member->ahead : 0;
        member->ahead = 0;
    } else if (!member->waiting && !said->waiting) {
        member->useful += used;
        member->ahead += used;
    }
    member->said = said->useful_ns;
    member->waiting = said->waiting;
    member->cpu_ns = cpu_ns;
}

static void look_at_members(struct pleat_folded *folded, int64_t now_us)
{
    uint32_t known = pleat_fold_processes(folded->fold, 0, folded->asked.processes, folded->seen);
    folded->attached = 0;
    for (uint32_t i = 0; i < known; i++) {
        struct pleat_folded_member *member = &folded->members[i];
        const struct pleat_fold_process *said = &folded->seen[i];
        if (said->pid == 0)
            leave(folded, member);
        else if (said->pid != member->pid && said->pid != member->refused)
            attach(folded, i, now_us);
        else if (member->pid)
            measure(member, said);
        folded->attached += member->pid != 0;
    }
}

/* ---- which processes are outside of the partition? ---- */

static bool is_outside(const struct pleat_folded_member *member,
                       const struct pleat_cpu_set *allowed)
{
    struct pleat_cpu_set has;
    if (pleat_cpu_set_get(member->tid, &has))
        return false; /* gone */
    struct pleat_cpu_set both = pleat_cpu_set_both(&has, allowed);
    return !pleat_cpu_set_equal(&both, &has);
}

/* Pins processes that are outside of the partition. Processes move one another when they take turns
 * from a global queue, and one may still do so by an earlier partition. */
static bool bring_back(struct pleat_folded *folded)
{
    struct pleat_cpu_set allowed = {0};
    bool clean = true;
    pleat_cpu_set_add_list(&allowed, &folded->cpus);
    for (uint32_t i = 0; i < folded->asked.processes; i++) {
        if (folded->members[i].pid && is_outside(&folded->members[i], &allowed)) {
            clean = false;
            pleat_folded_pin(folded, i);
        }
    }
    return clean;
}

static void look_at_vacating(struct pleat_folded *folded)
{
    struct pleat_run *run = folded->run;
    if (folded->vacating.count == 0)
        return;
    if (!bring_back(folded)) {
        folded->clean = 0;
        if (++folded->strays == STRAY_LOOKS)
            pleat_log("run %" PRIu64 " (job %s): its processes do not stay on their processors",
                      run->id, run->job);
        return;
    }
    if (++folded->clean < CLEAN_LOOKS && folded->attached)
        return;
    for (size_t i = 0; i < folded->vacating.count; i++) {
        const struct pleat_folded_shrunk *shrunk = &folded->vacating.items[i];
        pleat_outcome_add(run, shrunk->withdrawn ? "withdrawn" : "vacated", shrunk->resize,
                          json_pack("{s:I, s:I, s:I}", "run", (json_int_t)run->id, "resize",
                                    (json_int_t)shrunk->resize, "processes",
                                    (json_int_t)shrunk->processors));
    }
    folded->vacating.count = 0;
}

/* ---- is the program balanced? ---- */

static bool is_shared(const struct pleat_folded *folded)
{
    return folded->cpus.count < folded->asked.processes;
}

/* Begins to judge when all processes have attached, or when none has come for a while. */
static void begin_to_judge(struct pleat_folded *folded, int64_t now_us)
{
    struct pleat_detector_settings settings;
    if (folded->attached < 2 || (folded->attached < folded->asked.processes &&
                                 now_us - folded->attached_us < ATTACH_LAST_US))
        return;
    pleat_detector_finish(&folded->detector);
    folded->judged = folded->spreads = 0;
    pleat_detector_defaults(&settings);
    settings.threshold = folded->asked.threshold;
    if (settings.hysteresis > settings.threshold / 2)
        settings.hysteresis = settings.threshold / 2;
    struct pleat_error err = {0};
    if (pleat_detector_init(&folded->detector, folded->attached, &settings, &err)) {
        pleat_log("run %" PRIu64 " (job %s): %s", folded->run->id, folded->run->job, err.text);
        folded->attached_us = now_us; /* tried again later */
    } else {
        folded->judged = folded->attached;
    }
}

/* Whether heavy processes are spread over local queues before a global queue is used. That is done
 * where processes may be mapped by what they compute and their MPI is faster with local queues. In
 * a program whose heavy processes change it does not last, so it is done SPREADS_MAX times at most.
 */
static bool is_to_spread(struct pleat_folded *folded)
{
    return folded->asked.mapping == PLEAT_MAPPING_BALANCE &&
           folded->asked.begin == PLEAT_FOLD_QUEUE_LOCAL && folded->spreads++ < SPREADS_MAX;
}

static void follow_verdict(struct pleat_folded *folded)
{
    enum pleat_balance balance = folded->detector.balance;
    if (balance != PLEAT_BALANCE_BALANCED && balance != PLEAT_BALANCE_IMBALANCED)
        return;
    if (!folded->detects)
        pleat_folded_queue(folded, (enum pleat_fold_queue)folded->settings.queue, folded->queue_by);
    else if (balance == PLEAT_BALANCE_BALANCED)
        pleat_folded_queue(folded, PLEAT_FOLD_QUEUE_LOCAL, PLEAT_QUEUE_BY_DETECTOR);
    else if (is_to_spread(folded)) {
        pleat_folded_queue(folded, PLEAT_FOLD_QUEUE_LOCAL, PLEAT_QUEUE_BY_DETECTOR);
        pleat_detector_restart(&folded->detector); /* a new verdict is wanted soon */
    } else
        pleat_folded_queue(folded, PLEAT_FOLD_QUEUE_GLOBAL, PLEAT_QUEUE_BY_DETECTOR);
}

static void look_at_balance(struct pleat_folded *folded, int64_t now_us)
{
    if (folded->attached > folded->judged)
        begin_to_judge(folded, now_us);
    if (folded->judged == 0 || now_us < folded->sample_us)
        return;
    /* While each process has a processor none reports useful time. While processes end the balance
     * does not matter. */
    if (!is_shared(folded) || folded->attached < folded->judged) {
        pleat_detector_moved(&folded->detector, now_us, 0);
        return;
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < folded->asked.processes && used < folded->judged; i++)
        if (folded->members[i].pid)
            folded->samples[used++] = (struct pleat_detector_process){
                folded->seen[i].switches, folded->members[i].useful, folded->where[i]};
    bool changed = pleat_detector_look(&folded->detector, now_us, folded->samples);
    folded->sample_us = now_us + pleat_detector_interval_us(&folded->detector, now_us) / 2;
    if (changed)
        follow_verdict(folded);
}

/* ---- how fast is the program? ---- */

static void look_at_rate(struct pleat_folded *folded, int64_t now_us)
{
    uint64_t useful_ns = pleat_folded_useful_ns(folded);
    if (folded->attached == 0)
        pleat_rate_stop(&folded->rate);
    else if (folded->attached != folded->rated)
        pleat_rate_restart(&folded->rate, now_us, useful_ns);
    else
        pleat_rate_look(&folded->rate, now_us, useful_ns);
    folded->rated = folded->attached;
}

/* ---- where do foreign processes compute? ---- */

static uint32_t highest_cpu(const struct pleat_folded *folded)
{
    uint32_t highest = 0;
    for (size_t i = 0; i < folded->cpus.count; i++)
        if (folded->cpus.items[i] > highest)
            highest = folded->cpus.items[i];
    return highest < PLEAT_CPUS_MAX ? highest : PLEAT_CPUS_MAX - 1;
}

/* Processor time that the run's processes used since the last time, on the CPU of this processor.
 * With a global queue processes move, and it is that on all CPUs (all). */
static int64_t own_us(const struct pleat_folded *folded, uint32_t index, bool all)
{
    const uint32_t *cpus = folded->cpus.items;
    int64_t ns = 0;
    for (uint32_t i = 0; i < folded->asked.processes; i++)
        if (folded->members[i].pid && (all || cpus[folded->where[i]] == cpus[index]))
            ns += folded->members[i].cpu_ns - folded->members[i].compared_ns;
    return ns / 1000;
}

static void mark(struct pleat_folded *folded, uint32_t index)
{
    bool contended = folded->contention[index].contended;
    folded->contended += contended ? 1 : UINT32_MAX; /* one more, or one fewer */
    pleat_fold_contended(folded->fold, index, contended);
}

static void compare(struct pleat_folded *folded, const int64_t *busy_us, int64_t elapsed_us)
{
    bool all = folded->settings.queue == PLEAT_FOLD_QUEUE_GLOBAL;
    struct pleat_cpu_set counted = {0};
    int64_t sum_us = 0;
    for (uint32_t i = 0; i < folded->cpus.count; i++) {
        uint32_t cpu = folded->cpus.items[i];
        if (!pleat_cpu_set_has(&counted, cpu))
            sum_us += busy_us[cpu] - folded->busy_us[cpu];
        pleat_cpu_set_add(&counted, cpu);
    }
    /* with a global queue a processor's share of the use is known only roughly: its ticks are
     * coarse */
    int64_t share = all && folded->cpus.count > 4 ? (int64_t)folded->cpus.count / 4 : 1;
    int64_t own_all_us = all ? own_us(folded, 0, true) : 0;
    for (uint32_t i = 0; i < folded->cpus.count; i++) {
        uint32_t cpu = folded->cpus.items[i];
        if (pleat_contention_look(&folded->contention[i], elapsed_us * share,
                                  all ? sum_us : busy_us[cpu] - folded->busy_us[cpu],
                                  all ? own_all_us : own_us(folded, i, false)))
            mark(folded, i);
    }
}

static void look_at_contention(struct pleat_folded *folded, int64_t now_us)
{
    int64_t elapsed_us = now_us - folded->contended_us;
    struct pleat_error err;
    if (folded->attached == 0 || (folded->contended_us && elapsed_us < PLEAT_CONTENTION_LOOK_US))
        return;
    int64_t *busy_us = folded->busy_us + PLEAT_CPUS_MAX;
    uint32_t cpus = highest_cpu(folded) + 1;
    if (pleat_contention_read(folded->run->agent->proc, busy_us, cpus, &err))
        return; /* the CPUs' times are unknown */
    if (folded->contended_us)
        compare(folded, busy_us, elapsed_us);
    folded->contended_us = now_us;
    memcpy(folded->busy_us, busy_us, cpus * sizeof(*busy_us));
    for (uint32_t i = 0; i < folded->asked.processes; i++)
        folded->members[i].compared_ns = folded->members[i].cpu_ns;
    (void)bring_back(folded);
}

/* ---- periodic boost (Utrera 2010, 4.2.1) ---- */

static void set_boost(struct pleat_folded *folded, uint32_t index, bool boosted)
{
    struct pleat_folded_member *member = &folded->members[index];
    int nice = member->nice + (boosted ? BOOST : 0);
    if (member->pid == 0 || member->boosted == boosted)
        return;
    if (setpriority(PRIO_PROCESS, (id_t)member->tid, nice) == 0) {
        member->boosted = boosted;
    } else if (errno == EPERM || errno == EACCES) {
        folded->boost = PLEAT_BOOST_REFUSED;
        pleat_log("run %" PRIu64 " (job %s): priorities cannot be raised here (it needs root or "
                  "RLIMIT_NICE): it goes on without periodic boost",
                  folded->run->id, folded->run->job);
    }
}

/* Boosts on each processor the process that has most messages waiting. */
static void boost(struct pleat_folded *folded)
{
    for (uint32_t c = 0; c < folded->cpus.count && folded->boost == PLEAT_BOOST_ON; c++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < folded->asked.processes; i++)
            if (folded->members[i].pid && folded->where[i] == c && folded->seen[i].unconsumed &&
                (best == UINT32_MAX || folded->seen[i].unconsumed > folded->seen[best].unconsumed))
                best = i;
        for (uint32_t i = 0; i < folded->asked.processes; i++)
            if (folded->where[i] == c)
                set_boost(folded, i, i == best);
    }
}

/* ---- */

void pleat_folded_look(struct pleat_folded *folded)
{
    if (!folded->fold || !pleat_run_is_live(folded->run))
        return;
    int64_t now_us = pleat_clock_monotonic_us();
    struct pleat_fold_status status;
    pleat_fold_status(folded->fold, &status);
    folded->refused = status.refused;
    look_at_members(folded, now_us);
    look_at_vacating(folded);
    look_at_balance(folded, now_us);
    look_at_rate(folded, now_us);
    look_at_contention(folded, now_us);
    if (folded->boost == PLEAT_BOOST_ON)
        boost(folded);
}

static int64_t interval_us(const struct pleat_folded *folded, int64_t now_us)
{
    bool missing = folded->attached < folded->asked.processes && !folded->judged;
    int64_t interval = is_shared(folded) ? WATCH_US : SELDOM_US;
    if (folded->judged && is_shared(folded) && folded->attached == folded->judged)
        interval = pleat_detector_interval_us(&folded->detector, now_us);
    if (missing && interval > WATCH_US)
        interval = WATCH_US;
    if (folded->vacating.count || folded->boost == PLEAT_BOOST_ON ||
        (missing && now_us - folded->begun_us < ATTACH_SOON_US))
        interval = OFTEN_US;
    int64_t least = EACH_US * (int64_t)folded->asked.processes;
    return interval > least ? interval : least;
}

static void on_folding(uv_timer_t *timer)
{
    struct pleat_agent *agent = timer->data;
    int64_t now_us = pleat_clock_monotonic_us();
    for (size_t i = 0; i < agent->runs.count; i++) {
        struct pleat_folded *folded = agent->runs.items[i]->folded;
        if (!folded || !folded->fold)
            continue;
        pleat_folded_look(folded);
        pleat_folded_tell(folded, now_us);
    }
}

void pleat_foldeds_arm(struct pleat_agent *agent)
{
    int64_t now_us = pleat_clock_monotonic_us();
    int64_t next_us = INT64_MAX;
    if (agent->closing)
        return;
    for (size_t i = 0; i < agent->runs.count; i++) {
        const struct pleat_run *run = agent->runs.items[i];
        if (!run->folded || !run->folded->fold || !pleat_run_is_live(run))
            continue;
        int64_t due_us = now_us + interval_us(run->folded, now_us);
        if (due_us < next_us)
            next_us = due_us;
    }
    if (next_us == INT64_MAX) {
        uv_timer_stop(&agent->folding);
    } else if (!uv_is_active((const uv_handle_t *)&agent->folding) || next_us < agent->folding_us) {
        uv_timer_start(&agent->folding, on_folding, (uint64_t)(next_us - now_us) / 1000, 0);
        agent->folding_us = next_us;
    }
}

#include "agent/fold_partition.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/bind.h"
#include "agent/log.h"
#include "base/clock.h"

uint64_t pleat_folded_useful_ns(const struct pleat_folded *folded)
{
    uint64_t sum = folded->gone_ns;
    for (uint32_t i = 0; i < folded->asked.processes; i++)
        sum += folded->members[i].useful;
    return sum;
}

/* ---- the places of processes ---- */

static uint64_t traffic(const void *arg, uint32_t from, uint32_t to)
{
    return pleat_fold_traffic(arg, from, to);
}

/* Writes at which processor of `cpus` each process would stand. */
static int map(const struct pleat_folded *folded, const struct pleat_cpu_list *cpus,
               uint32_t *where, struct pleat_error *err)
{
    uint32_t processes = folded->asked.processes;
    uint64_t *useful = calloc(processes, sizeof(*useful));
    if (!useful)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to map the processes of run %" PRIu64,
                               folded->run->id);
    for (uint32_t i = 0; i < processes; i++)
        useful[i] = folded->members[i].useful;
    struct pleat_mapping_facts facts = {
        .processes = processes,
        .now = {cpus->items, (uint32_t)cpus->count},
        .before = {folded->cpus.items, (uint32_t)folded->cpus.count},
        .where_before = folded->where,
        .traffic = traffic,
        .arg = folded->fold,
        .useful_ns = useful,
    };
    int result = pleat_mapping_make(folded->asked.mapping, &facts, where, err);
    free(useful);
    return result;
}

/* Whether the kernel chooses the CPU of a process within the partition: with a global queue where
 * no process hands its processor on. The library decides likewise (src/fold/turn_pin.c). */
static bool kernel_chooses(const struct pleat_folded *folded)
{
    enum pleat_fold_wait wait = (enum pleat_fold_wait)folded->settings.wait;
    return folded->settings.queue == PLEAT_FOLD_QUEUE_GLOBAL &&
           (wait == PLEAT_FOLD_WAIT_NATIVE || wait == PLEAT_FOLD_WAIT_YIELD ||
            wait == PLEAT_FOLD_WAIT_BLOCK);
}

static int allow_all(const struct pleat_folded *folded, const struct pleat_folded_member *member,
                     struct pleat_error *err)
{
    struct pleat_process_entry now;
    struct pleat_cpu_set set = {0};
    if (pleat_process_tree_read_one(folded->run->agent->proc, member->pid, &now) ||
        now.start != member->start)
        return PLEAT_E_NOTFOUND;
    pleat_cpu_set_add_list(&set, &folded->cpus);
    int code = pleat_cpu_set_tell(member->tid, &set);
    if (code == ESRCH)
        return PLEAT_E_NOTFOUND;
    return code ? pleat_error_sys(err, code, "cannot bind thread %d to its partition",
                                  (int)member->tid)
                : 0;
}

static int pin(const struct pleat_folded *folded, uint32_t index, struct pleat_error *err)
{
    const struct pleat_folded_member *member = &folded->members[index];
    if (member->pid == 0)
        return 0;
    int result =
        kernel_chooses(folded)
            ? allow_all(folded, member, err)
            : pleat_bind_thread(folded->run->agent, member->pid, member->start, member->tid,
                                folded->cpus.items[folded->where[index]], err);
    return result == PLEAT_E_NOTFOUND ? 0 : result;
}

void pleat_folded_pin(struct pleat_folded *folded, uint32_t index)
{
    struct pleat_error err = {0};
    if (pin(folded, index, &err))
        pleat_log("run %" PRIu64 " (job %s): %s", folded->run->id, folded->run->job, err.text);
}

/* early: processes may not have attached yet, so a failure is no error. */
static void pin_all(struct pleat_folded *folded, bool early)
{
    for (uint32_t i = 0; i < folded->asked.processes; i++) {
        if (early)
            (void)!pin(folded, i, NULL);
        else
            pleat_folded_pin(folded, i);
    }
}

/* A foreign process computes on a CPU, whatever index that CPU has in the partition: so marks of
 * contention move with their CPUs. */
static void carry_contention(struct pleat_folded *folded, const struct pleat_cpu_list *before)
{
    struct pleat_contention *was = folded->contention;
    struct pleat_contention *now = folded->contention + PLEAT_FOLD_CPUS_MAX;
    folded->contended = 0;
    folded->contended_us = 0;
    for (size_t i = 0; i < folded->cpus.count; i++) {
        memset(&now[i], 0, sizeof(now[i]));
        for (size_t j = 0; j < before->count; j++)
            now[i].contended |= before->items[j] == folded->cpus.items[i] && was[j].contended;
        folded->contended += now[i].contended;
    }
    memcpy(was, now, folded->cpus.count * sizeof(*was));
    for (uint32_t i = 0; i < folded->cpus.count; i++)
        pleat_fold_contended(folded->fold, i, was[i].contended);
}

/* Makes `cpus` the partition, and steals the list. where: the index of each process in it. */
static void set_partition(struct pleat_folded *folded, struct pleat_cpu_list *cpus,
                          const uint32_t *where)
{
    struct pleat_cpu_list before = folded->cpus;
    folded->cpus = *cpus;
    memset(cpus, 0, sizeof(*cpus));
    memmove(folded->where, where, folded->asked.processes * sizeof(*where));
    /* cannot fail: all values are in range */
    (void)!pleat_fold_partition(folded->fold, folded->cpus.items, (uint32_t)folded->cpus.count,
                                folded->where);
    carry_contention(folded, &before);
    pleat_array_finish(&before);
}

/* ---- the partition changes ---- */

int pleat_folded_check_cpus(const struct pleat_cpu_list *cpus, struct pleat_error *err)
{
    if (cpus->count == 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a folded run needs processors that it is bound to: 'slots'");
    if (cpus->count > PLEAT_FOLD_CPUS_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "a folded run has at most %d processors on a node, not %zu",
                               PLEAT_FOLD_CPUS_MAX, cpus->count);
    return 0;
}

int pleat_folded_partition(struct pleat_folded *folded, const struct pleat_cpu_list *cpus,
                           struct pleat_error *err)
{
    struct pleat_cpu_list own = {0};
    int result = 0;
    if (pleat_cpu_list_copy(cpus, &own))
        result = pleat_error_set(err, PLEAT_E_NOMEM, "no memory for a partition");
    if (!result)
        result = map(folded, &own, folded->where, err);
    if (!result)
        set_partition(folded, &own, folded->where);
    pleat_array_finish(&own);
    return result;
}

/* Moves the processes to their places on `cpus`, and pins them there. Only then all other threads
 * of the run are told, which takes milliseconds. That also frees the threads that were pinned to
 * what was the only CPU (bind.h), and only then can the new CPUs of a cpuset be used: so processes
 * are pinned once more. Takes `cpus` and `where` as set_partition does. */
static void move(struct pleat_folded *folded, struct pleat_cpu_list *cpus, const uint32_t *where)
{
    struct pleat_run *run = folded->run;
    set_partition(folded, cpus, where);
    pin_all(folded, true);
    pleat_bind_open(run);
    pin_all(folded, false);
    pleat_bind_accept(run, SIZE_MAX);
    (void)pleat_bind_close(run); /* what failed is logged there */
}

int pleat_folded_move(struct pleat_folded *folded, struct pleat_error *err)
{
    struct pleat_run *run = folded->run;
    struct pleat_cpu_list own = {0};
    int64_t begin_us = pleat_clock_monotonic_us();
    int result = pleat_folded_check_cpus(&run->binding.wanted, err);
    if (result)
        return result;
    uint32_t *where = calloc(folded->asked.processes, sizeof(*where));
    if (!where || pleat_cpu_list_copy(&run->binding.wanted, &own)) {
        free(where);
        return pleat_error_set(err, PLEAT_E_NOMEM,
                               "no memory to change the partition of run %" PRIu64, run->id);
    }
    result = map(folded, &own, where, err);
    if (!result) {
        move(folded, &own, where);
        int64_t now_us = pleat_clock_monotonic_us();
        if (folded->judged)
            pleat_detector_moved(&folded->detector, now_us, now_us - begin_us);
        pleat_rate_moved(&folded->rate, now_us, pleat_folded_useful_ns(folded), now_us - begin_us);
    }
    pleat_array_finish(&own);
    free(where);
    return result;
}

/* ---- local or global ---- */

void pleat_folded_queue(struct pleat_folded *folded, enum pleat_fold_queue queue,
                        enum pleat_folded_queue_by by)
{
    struct pleat_cpu_list own = {0};
    int64_t begin_us = pleat_clock_monotonic_us();
    struct pleat_fold_settings before = folded->settings;
    folded->queue_by = by;
    /* What the mapping goes by (communication, balance) is known only now, so processes may move
     * although the queue is the same. */
    if (before.queue == queue &&
        (queue == PLEAT_FOLD_QUEUE_GLOBAL || folded->asked.mapping == PLEAT_MAPPING_ROUND_ROBIN))
        return;
    folded->settings.queue = (uint8_t)queue;
    uint32_t *where = calloc(folded->asked.processes, sizeof(*where));
    if (!where || pleat_cpu_list_copy(&folded->cpus, &own) || map(folded, &own, where, NULL) ||
        pleat_fold_configure(folded->fold, &folded->settings)) {
        folded->settings = before;
        pleat_log("run %" PRIu64 " (job %s): no memory to change its queues", folded->run->id,
                  folded->run->job);
    } else {
        set_partition(folded, &own, where); /* each process stands at its own processor */
        pin_all(folded, false);
        int64_t now_us = pleat_clock_monotonic_us();
        pleat_detector_moved(&folded->detector, now_us, now_us - begin_us);
        if (folded->rate.running)
            pleat_rate_restart(&folded->rate, now_us, pleat_folded_useful_ns(folded));
    }
    pleat_array_finish(&own);
    free(where);
}

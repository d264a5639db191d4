#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shm/fold-layout.h"
#include "shm/fold-pool.h"

/* Default of spin_us: a message between two running processors takes less, and it is short compared
 * with what a process loses that waits for its turn. */
#define SPIN_US_DEFAULT 50u
#define SLICE_US_DEFAULT 10000u

_Static_assert(sizeof(struct pleat_fold_slot) == 2 * (size_t)PLEAT_FOLD_LINE, "two lines");
_Static_assert(sizeof(struct pleat_fold_processor) == 2 * (size_t)PLEAT_FOLD_LINE, "two lines");

static size_t traffic_count(uint32_t processes)
{
    return processes <= PLEAT_FOLD_TRAFFIC_MAX ? (size_t)processes * processes : 0;
}

static size_t segment_bytes(uint32_t processes, uint32_t cpus_max)
{
    return sizeof(struct pleat_fold_segment) + cpus_max * sizeof(struct pleat_fold_processor) +
           processes * sizeof(struct pleat_fold_slot) +
           traffic_count(processes) * sizeof(_Atomic uint32_t);
}

static struct pleat_fold *new_fold(struct pleat_error *err)
{
    struct pleat_fold *made = calloc(1, sizeof(*made));
    if (!made)
        (void)pleat_error_set(err, PLEAT_E_NOMEM, "no memory to fold a program");
    return made;
}

static struct pleat_segment_kind fold_kind(void)
{
    return (struct pleat_segment_kind){
        .called = "fold segment",
        .memfd = "pleat-fold",
        .environment = PLEAT_FOLD_ENV,
        .library = "libpleat-fold",
        .magic = PLEAT_FOLD_MAGIC,
        .version = PLEAT_FOLD_VERSION,
        .least = segment_bytes(1, 1),
        .most = segment_bytes(PLEAT_FOLD_PROCESSES_MAX, PLEAT_FOLD_CPUS_MAX) +
                traffic_count(PLEAT_FOLD_TRAFFIC_MAX) * sizeof(_Atomic uint32_t)};
}

static void find_parts(struct pleat_fold *fold, uint32_t processes, uint32_t cpus_max)
{
    unsigned char *at = fold->segment->rest;
    fold->processes = processes;
    fold->cpus_max = cpus_max;
    fold->processors = (struct pleat_fold_processor *)(void *)at;
    at += cpus_max * sizeof(struct pleat_fold_processor);
    pleat_fold_own_turns(fold);
    at += processes * sizeof(struct pleat_fold_slot);
    fold->traffic = traffic_count(processes) ? (_Atomic uint32_t *)(void *)at : NULL;
}

static bool size_is_possible(uint32_t processes, uint32_t cpus_max)
{
    return processes >= 1 && processes <= PLEAT_FOLD_PROCESSES_MAX && cpus_max >= 1 &&
           cpus_max <= PLEAT_FOLD_CPUS_MAX;
}

/* ---- the agent's side ---- */

static void fill_segment(struct pleat_fold *fold)
{
    static const struct pleat_fold_settings defaults = {
        .queue = PLEAT_FOLD_QUEUE_GLOBAL, .spin_us = SPIN_US_DEFAULT, .slice_us = SLICE_US_DEFAULT};
    struct pleat_fold_segment *segment = fold->segment;
    segment->header.count = fold->processes;
    segment->cpus_max = fold->cpus_max;
    for (uint32_t i = 0; i < fold->processes; i++)
        atomic_store(&fold->slots[i].waits_for, -1);
    (void)!pleat_fold_configure(fold, &defaults); /* cannot fail: the defaults are valid */
}

int pleat_fold_create(uint32_t processes, uint32_t cpus_max, struct pleat_fold **fold, int *fd,
                      struct pleat_error *err)
{
    if (!size_is_possible(processes, cpus_max))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%u processes cannot be folded on %u processors: choose 1 to %u "
                               "processes and 1 to %u processors",
                               processes, cpus_max, PLEAT_FOLD_PROCESSES_MAX, PLEAT_FOLD_CPUS_MAX);
    struct pleat_segment_kind kind = fold_kind();
    struct pleat_fold *made = new_fold(err);
    if (!made)
        return PLEAT_E_NOMEM;
    void *at = NULL;
    made->bytes = segment_bytes(processes, cpus_max);
    int code = pleat_segment_create(&kind, made->bytes, &at, fd, err);
    if (code) {
        free(made);
        return code;
    }
    made->segment = at;
    find_parts(made, processes, cpus_max);
    fill_segment(made);
    *fold = made;
    return 0;
}

static void next_generation(struct pleat_fold *fold)
{
    atomic_fetch_add(&fold->segment->generation, 1);
}

/* Wakes all waiting processes, so that they look what has changed: if processes do not hand the
 * processor on any more, no other process would wake them. */
static void wake_waiting(struct pleat_fold *fold)
{
    for (uint32_t i = 0; i < fold->processes; i++)
        if (pleat_fold_word_waits(atomic_load(&fold->slots[i].word)))
            pleat_fold_wake(&fold->turns, fold->turns.first + i);
}

int pleat_fold_configure(struct pleat_fold *fold, const struct pleat_fold_settings *settings)
{
    if (settings->wait > PLEAT_FOLD_WAIT_BLOCK || settings->give > PLEAT_FOLD_GIVE_SLICE ||
        settings->next > PLEAT_FOLD_NEXT_AFFINITY || settings->queue > PLEAT_FOLD_QUEUE_GLOBAL)
        return PLEAT_E_INVALID;
    struct pleat_fold_segment *segment = fold->segment;
    uint32_t modes = (uint32_t)settings->wait | (uint32_t)settings->give << 8 |
                     (uint32_t)settings->next << 16 | (uint32_t)settings->queue << 24;
    atomic_store(&segment->spin_us, settings->spin_us);
    atomic_store(&segment->slice_us, settings->slice_us);
    atomic_store(&segment->modes, modes);
    next_generation(fold);
    wake_waiting(fold);
    return 0;
}

struct pleat_fold_settings pleat_fold_settings_of(const struct pleat_fold *fold)
{
    uint32_t modes = atomic_load(&fold->segment->modes);
    struct pleat_fold_settings settings = {.wait = (uint8_t)modes,
                                           .give = (uint8_t)(modes >> 8),
                                           .next = (uint8_t)(modes >> 16),
                                           .queue = (uint8_t)(modes >> 24),
                                           .spin_us = atomic_load(&fold->segment->spin_us),
                                           .slice_us = atomic_load(&fold->segment->slice_us)};
    if (settings.wait > PLEAT_FOLD_WAIT_BLOCK)
        settings.wait = PLEAT_FOLD_WAIT_AUTO;
    if (settings.give > PLEAT_FOLD_GIVE_SLICE)
        settings.give = PLEAT_FOLD_GIVE_EVENTS;
    if (settings.next > PLEAT_FOLD_NEXT_AFFINITY)
        settings.next = PLEAT_FOLD_NEXT_AUTO;
    if (settings.queue > PLEAT_FOLD_QUEUE_GLOBAL)
        settings.queue = PLEAT_FOLD_QUEUE_GLOBAL;
    return settings;
}

/* ---- the partition ---- */

static bool is_doubled(const uint32_t *cpus, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (cpus[i] == cpus[j])
                return true;
    return false;
}

/* Whether a process that waits would poll beside another process or other work. */
static bool is_folded(const struct pleat_fold *fold, uint32_t count)
{
    if (fold->pool || atomic_load(&fold->segment->doubled))
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (atomic_load(&fold->processors[i].contended))
            return true;
    /* With as many processors as processes, each process has one, unless some are in the same
     * queue. */
    for (uint32_t i = 0; i < fold->processes && count >= fold->processes; i++)
        for (uint32_t j = 0; j < i; j++)
            if (atomic_load(&fold->slots[i].queue) == atomic_load(&fold->slots[j].queue))
                return true;
    return count < fold->processes;
}

/* Moves the waiting processes to their queues; running ones move at their next wait. */
static void move_waiting(struct pleat_fold *fold)
{
    for (uint32_t i = 0; i < fold->processes; i++) {
        struct pleat_fold_slot *slot = &fold->slots[i];
        uint32_t word = atomic_load(&slot->word);
        uint32_t queue = atomic_load(&slot->queue);
        if (pleat_fold_word_waits(word) && pleat_fold_word_processor(word) != queue)
            (void)atomic_compare_exchange_strong(&slot->word, &word,
                                                 pleat_fold_word(PLEAT_FOLD_PARKED, queue));
    }
}

static void start_processors(const struct pleat_fold *fold, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        pleat_fold_start(fold, pleat_fold_line(fold, i));
}

/* Whether every processor has a line. */
static bool are_possible(const struct pleat_fold *fold, const uint32_t *cpus, uint32_t count)
{
    for (uint32_t i = 0; fold->pool && i < count; i++)
        if (cpus[i] >= fold->turns.line_count)
            return false;
    return true;
}

/* Those of the partition that the run leaves; others may wait there. */
static void start_left(const struct pleat_fold *fold, const uint32_t *before, uint32_t count)
{
    atomic_fetch_add(&fold->pool->segment->generation, 1);
    for (uint32_t i = 0; i < count; i++)
        if (before[i] < fold->turns.line_count)
            pleat_fold_start(fold, before[i]);
}

int pleat_fold_partition(struct pleat_fold *fold, const uint32_t *cpus, uint32_t count,
                         const uint32_t *where)
{
    uint32_t before[PLEAT_FOLD_CPUS_MAX], before_count = pleat_fold_processor_count(fold);
    if (count < 1 || count > fold->cpus_max || !are_possible(fold, cpus, count))
        return PLEAT_E_INVALID;
    for (uint32_t i = 0; i < fold->processes; i++)
        if (where[i] >= count)
            return PLEAT_E_INVALID;
    for (uint32_t i = 0; i < before_count; i++)
        before[i] = atomic_load(&fold->processors[i].cpu);
    for (uint32_t i = 0; i < count; i++)
        atomic_store(&fold->processors[i].cpu, cpus[i]);
    for (uint32_t i = 0; i < fold->processes; i++)
        atomic_store(&fold->slots[i].queue, fold->pool ? cpus[where[i]] : where[i]);
    atomic_store(&fold->segment->processors, count);
    atomic_store(&fold->segment->doubled, is_doubled(cpus, count));
    atomic_store(&fold->segment->folded, is_folded(fold, count));
    next_generation(fold);
    move_waiting(fold);
    if (fold->pool)
        start_left(fold, before, before_count);
    start_processors(fold, count);
    wake_waiting(fold);
    return 0;
}

void pleat_fold_contended(struct pleat_fold *fold, uint32_t index, bool contended)
{
    uint32_t count = pleat_fold_processor_count(fold);
    if (index >= count || atomic_load(&fold->processors[index].contended) == contended)
        return;
    atomic_store(&fold->processors[index].contended, contended);
    atomic_store(&fold->segment->folded, is_folded(fold, count));
    next_generation(fold);
    wake_waiting(fold);
}

void pleat_fold_count(struct pleat_fold *fold, bool all)
{
    atomic_store(&fold->segment->counts, all);
    next_generation(fold);
}

/* ---- status ---- */

void pleat_fold_status(const struct pleat_fold *fold, struct pleat_fold_status *status)
{
    memset(status, 0, sizeof(*status));
    status->processes = fold->processes;
    status->processors = pleat_fold_processor_count(fold);
    status->settings = pleat_fold_settings_of(fold);
    status->refused = atomic_load(&fold->segment->refused);
    for (uint32_t i = 0; i < fold->processes; i++)
        if (atomic_load(&fold->slots[i].pid) > 0)
            status->attached++;
}

static void read_process(const struct pleat_fold *fold, uint32_t index,
                         struct pleat_fold_process *out)
{
    const struct pleat_fold_slot *slot = &fold->slots[index];
    uint32_t count = pleat_fold_processor_count(fold);
    uint32_t word = atomic_load(&slot->word);
    uint32_t at = pleat_fold_processor_of(fold, pleat_fold_word_processor(word));
    if (pleat_fold_word_state(word) == PLEAT_FOLD_ABSENT || at >= count)
        at = pleat_fold_processor_of(fold, atomic_load(&slot->queue));
    int32_t pid = atomic_load(&slot->pid), tid = atomic_load(&slot->tid);
    memset(out, 0, sizeof(*out));
    out->pid = pid > 0 ? pid : 0;
    out->tid = pid > 0 && tid > 0 ? tid : out->pid;
    out->rank = atomic_load(&slot->rank);
    out->queue = at < count ? at : 0;
    out->switches = atomic_load(&slot->switches);
    out->useful_ns = atomic_load(&slot->useful_ns);
    out->unconsumed = (uint32_t)(atomic_load(&slot->mail) >> 32);
    out->waiting = pleat_fold_word_waits(word);
}

uint32_t pleat_fold_processes(const struct pleat_fold *fold, uint32_t first, uint32_t count,
                              struct pleat_fold_process *out)
{
    uint32_t written = 0;
    while (written < count && first < fold->processes && written < fold->processes - first) {
        read_process(fold, first + written, &out[written]);
        written++;
    }
    return written;
}

uint64_t pleat_fold_traffic(const struct pleat_fold *fold, uint32_t from, uint32_t to)
{
    if (!fold->traffic || from >= fold->processes || to >= fold->processes)
        return 0;
    return atomic_load_explicit(&fold->traffic[(size_t)from * fold->processes + to],
                                memory_order_relaxed);
}

/* ---- opening, in a process ---- */

static int check_size(const struct pleat_segment_kind *kind, const char *path,
                      struct pleat_fold *fold, struct pleat_error *err)
{
    uint32_t processes = fold->segment->header.count, cpus_max = fold->segment->cpus_max;
    if (!size_is_possible(processes, cpus_max) || segment_bytes(processes, cpus_max) != fold->bytes)
        return pleat_segment_contradicts(kind, path, fold->bytes, err);
    find_parts(fold, processes, cpus_max);
    return 0;
}

int pleat_fold_open(const char *path, struct pleat_fold **fold, struct pleat_error *err)
{
    struct pleat_segment_kind kind = fold_kind();
    struct pleat_fold *made = new_fold(err);
    if (!made)
        return PLEAT_E_NOMEM;
    void *at = NULL;
    int code = pleat_segment_open(&kind, path, &at, &made->bytes, err);
    if (code) {
        free(made);
        return code;
    }
    made->segment = at;
    code = check_size(&kind, path, made, err);
    if (!code) {
        code = pleat_fold_pool_find(made, path, err);
        made->own_pool = !code;
    }
    if (code) {
        pleat_fold_close(made);
        return code;
    }
    *fold = made;
    return 0;
}

void pleat_fold_refuse(const char *path)
{
    struct pleat_fold *fold = NULL;
    if (pleat_fold_open(path, &fold, NULL) || !fold)
        return;
    atomic_fetch_add(&fold->segment->refused, 1);
    pleat_fold_close(fold);
}

void pleat_fold_close(struct pleat_fold *fold)
{
    if (!fold)
        return;
    if (fold->own_pool)
        pleat_fold_pool_close(fold->pool);
    munmap(fold->segment, fold->bytes);
    free(fold);
}

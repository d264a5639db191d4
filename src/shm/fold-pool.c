#include "shm/fold-pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpus.h"
#include "shm/fold-layout.h"

#define NO_QUEUE UINT32_MAX /* of a slot that is in no queue */

static size_t pool_bytes(void)
{
    return sizeof(struct pleat_fold_pool_segment) +
           PLEAT_CPUS_MAX * sizeof(struct pleat_fold_processor) +
           PLEAT_FOLD_POOL_SLOTS * sizeof(struct pleat_fold_slot);
}

static struct pleat_segment_kind pool_kind(void)
{
    return (struct pleat_segment_kind){.called = "fold pool",
                                       .memfd = "pleat-fold-pool",
                                       .environment = PLEAT_FOLD_ENV,
                                       .library = "libpleat-fold",
                                       .magic = PLEAT_FOLD_POOL_MAGIC,
                                       .version = PLEAT_FOLD_VERSION,
                                       .least = pool_bytes(),
                                       .most = pool_bytes()};
}

static struct pleat_fold_pool *new_pool(struct pleat_error *err)
{
    struct pleat_fold_pool *made = calloc(1, sizeof(*made));
    if (!made)
        (void)pleat_error_set(err, PLEAT_E_NOMEM, "no memory for a pool of folded runs");
    return made;
}

static void find_parts(struct pleat_fold_pool *pool, void *at)
{
    pool->segment = at;
    pool->lines = (struct pleat_fold_processor *)(void *)pool->segment->rest;
    pool->slots = (struct pleat_fold_slot *)(void *)(pool->lines + PLEAT_CPUS_MAX);
}

int pleat_fold_pool_create(struct pleat_fold_pool **pool, int *fd, struct pleat_error *err)
{
    struct pleat_segment_kind kind = pool_kind();
    struct pleat_fold_pool *made = new_pool(err);
    if (!made)
        return PLEAT_E_NOMEM;
    void *at = NULL;
    made->bytes = pool_bytes();
    int code = pleat_segment_create(&kind, made->bytes, &at, fd, err);
    if (!code && fchmod(*fd, S_IRUSR | S_IWUSR)) {
        code = pleat_error_set(err, PLEAT_E_SYSTEM, "cannot keep a pool of folded runs private");
        munmap(at, made->bytes);
        close(*fd);
    }
    if (code) {
        free(made);
        return code;
    }
    find_parts(made, at);
    made->segment->header.count = PLEAT_FOLD_POOL_SLOTS;
    *pool = made;
    return 0;
}

int pleat_fold_pool_open(const char *path, struct pleat_fold_pool **pool, struct pleat_error *err)
{
    struct pleat_segment_kind kind = pool_kind();
    struct pleat_fold_pool *made = new_pool(err);
    if (!made)
        return PLEAT_E_NOMEM;
    void *at = NULL;
    int code = pleat_segment_open(&kind, path, &at, &made->bytes, err);
    if (code) {
        free(made);
        return code;
    }
    find_parts(made, at);
    *pool = made;
    return 0;
}

void pleat_fold_pool_close(struct pleat_fold_pool *pool)
{
    if (!pool)
        return;
    munmap(pool->segment, pool->bytes);
    free(pool);
}

/* ---- slots ---- */

/* Gives the slots from `first` on, as far as they are the run's. */
static void release(struct pleat_fold_pool *pool, uint32_t first, uint32_t count, uint32_t tag)
{
    for (uint32_t i = first; i < first + count; i++) {
        struct pleat_fold_slot *slot = &pool->slots[i];
        if (atomic_load(&slot->run) != tag)
            continue;
        atomic_store(&slot->queue, NO_QUEUE);
        atomic_store(&slot->word, pleat_fold_word(PLEAT_FOLD_ABSENT, 0));
        atomic_store(&slot->pid, 0);
        atomic_store(&slot->tid, 0);
        atomic_store(&slot->run, 0);
    }
}

/* Takes `count` slots from `first` on, or none of them. *next: where the search goes on. */
static bool reserve(struct pleat_fold_pool *pool, uint32_t first, uint32_t count, uint32_t tag,
                    uint32_t *next)
{
    for (uint32_t i = first; i < first + count; i++) {
        uint32_t nobody = 0;
        if (atomic_compare_exchange_strong(&pool->slots[i].run, &nobody, tag))
            continue;
        release(pool, first, i - first, tag);
        *next = i + 1;
        return false;
    }
    return true;
}

static bool find_room(struct pleat_fold_pool *pool, uint32_t count, uint32_t tag, uint32_t *first)
{
    for (uint32_t at = 0; at + count <= PLEAT_FOLD_POOL_SLOTS;)
        if (reserve(pool, at, count, tag, &at)) {
            *first = at;
            return true;
        }
    return false;
}

/* What an earlier process has left in the slots. */
static void empty(struct pleat_fold_slot *slots, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        atomic_store(&slots[i].queue, NO_QUEUE);
        atomic_store(&slots[i].word, pleat_fold_word(PLEAT_FOLD_ABSENT, 0));
        atomic_store(&slots[i].waits_for, -1);
        atomic_store(&slots[i].mail, 0);
        atomic_store(&slots[i].seen, 0);
        atomic_store(&slots[i].pid, 0);
        atomic_store(&slots[i].tid, 0);
        atomic_store(&slots[i].rank, 0);
        atomic_store(&slots[i].switches, 0);
        atomic_store(&slots[i].useful_ns, 0);
    }
}

static void note_used(struct pleat_fold_pool *pool, uint32_t end)
{
    uint32_t used = atomic_load(&pool->segment->used);
    while (used < end && !atomic_compare_exchange_weak(&pool->segment->used, &used, end))
        ;
}

static void use_pool(struct pleat_fold *fold, struct pleat_fold_pool *pool, uint32_t first)
{
    fold->pool = pool;
    fold->slots = pool->slots + first;
    fold->turns = (struct pleat_fold_turns){.lines = pool->lines,
                                            .slots = pool->slots,
                                            .any_idle = &pool->segment->any_idle,
                                            .line_count = PLEAT_CPUS_MAX,
                                            .slot_count = PLEAT_FOLD_POOL_SLOTS,
                                            .first = first};
}

int pleat_fold_pool_join(struct pleat_fold *fold, struct pleat_fold_pool *pool, int fd,
                         struct pleat_error *err)
{
    uint32_t first, tag = 0;
    while (!tag)
        tag = atomic_fetch_add(&pool->segment->tags, 1) + 1;
    if (!find_room(pool, fold->processes, tag, &first))
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "there is no room for %u processes more that share processors in "
                               "time with other jobs: there may be %u on a node; start the job "
                               "without share=time, or when others have ended",
                               fold->processes, PLEAT_FOLD_POOL_SLOTS);
    empty(pool->slots + first, fold->processes);
    note_used(pool, first + fold->processes);
    use_pool(fold, pool, first);
    fold->tag = tag;
    fold->segment->pool_first = first;
    fold->segment->pool_fd = (uint32_t)fd + 1;
    return 0;
}

void pleat_fold_pool_leave(struct pleat_fold *fold)
{
    struct pleat_fold_pool *pool = fold->pool;
    uint32_t count = pleat_fold_processor_count(fold);
    if (!pool)
        return;
    release(pool, fold->turns.first, fold->processes, fold->tag);
    atomic_fetch_add(&pool->segment->generation, 1);
    for (uint32_t i = 0; i < count; i++)
        pleat_fold_start(fold, pleat_fold_line(fold, i));
    atomic_store(&fold->segment->processors, 0);
    atomic_fetch_add(&fold->segment->generation, 1); /* for a process that is still there */
    pleat_fold_own_turns(fold);
}

uint32_t pleat_fold_pool_runs(const struct pleat_fold_pool *pool)
{
    uint32_t runs = 0, last = 0;
    for (uint32_t i = 0; i < PLEAT_FOLD_POOL_SLOTS; i++) {
        uint32_t run = atomic_load(&pool->slots[i].run);
        runs += run && run != last;
        last = run;
    }
    return runs;
}

/* ---- in a process ---- */

int pleat_fold_pool_find(struct pleat_fold *fold, const char *path, struct pleat_error *err)
{
    char beside[128];
    struct pleat_fold_pool *pool = NULL;
    uint32_t fd = fold->segment->pool_fd, first = fold->segment->pool_first;
    const char *slash = strrchr(path, '/');
    if (!fd)
        return 0;
    int length =
        snprintf(beside, sizeof(beside), "%.*s/%u", slash ? (int)(slash - path) : 0, path, fd - 1);
    if (length < 0 || (size_t)length >= sizeof(beside) ||
        first > PLEAT_FOLD_POOL_SLOTS - fold->processes)
        return pleat_error_set(err, PLEAT_E_CORRUPT, "%s names no possible pool of folded runs",
                               path);
    int code = pleat_fold_pool_open(beside, &pool, err);
    if (!code)
        use_pool(fold, pool, first);
    return code;
}

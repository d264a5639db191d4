#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shm/mailbox-word.h"
#include "shm/segment.h"

static_assert(sizeof(struct pleat_mailbox_slot) == PLEAT_MAILBOX_LINE, "one line per rank");
static_assert(sizeof(struct pleat_mailbox_cost) == PLEAT_MAILBOX_COSTS * sizeof(uint64_t),
              "a cost is copied as an array");

static size_t segment_bytes(uint32_t max_ranks)
{
    return sizeof(struct pleat_mailbox_segment) + max_ranks * sizeof(struct pleat_mailbox_slot);
}

static const struct pleat_segment_kind mailbox_kind = {
    .called = "mailbox",
    .memfd = "pleat-mailbox",
    .environment = PLEAT_MAILBOX_ENV,
    .library = "libpleat",
    .magic = PLEAT_MAILBOX_MAGIC,
    .version = PLEAT_MAILBOX_VERSION,
    .least = sizeof(struct pleat_mailbox_segment) + sizeof(struct pleat_mailbox_slot),
    .most = sizeof(struct pleat_mailbox_segment) +
            PLEAT_MAILBOX_MAX_RANKS * sizeof(struct pleat_mailbox_slot),
};

static struct pleat_mailbox *new_mailbox(struct pleat_error *err)
{
    struct pleat_mailbox *made = calloc(1, sizeof(*made));
    if (!made)
        (void)pleat_error_set(err, PLEAT_E_NOMEM, "no memory for a mailbox");
    return made;
}

/* ---- the agent's side ---- */

int pleat_mailbox_create(uint32_t max_ranks, struct pleat_mailbox **mailbox, int *fd,
                         struct pleat_error *err)
{
    if (max_ranks < 1 || max_ranks > PLEAT_MAILBOX_MAX_RANKS)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a mailbox for %u ranks is not possible: choose 1 to %u", max_ranks,
                               PLEAT_MAILBOX_MAX_RANKS);
    struct pleat_mailbox *made = new_mailbox(err);
    if (!made)
        return PLEAT_E_NOMEM;
    void *at = NULL;
    made->bytes = segment_bytes(max_ranks);
    made->max_ranks = max_ranks;
    int code = pleat_segment_create(&mailbox_kind, made->bytes, &at, fd, err);
    if (code) {
        free(made);
        return code;
    }
    made->segment = at;
    made->segment->header.count = max_ranks;
    made->nodes = 1;
    *mailbox = made;
    return 0;
}

void pleat_mailbox_resume(struct pleat_mailbox *mailbox, uint64_t generation)
{
    atomic_store(&mailbox->segment->resume, generation);
}

void pleat_mailbox_hold(struct pleat_mailbox *mailbox)
{
    atomic_store(&mailbox->segment->held, PLEAT_HELD);
}

void pleat_mailbox_go(struct pleat_mailbox *mailbox, uint64_t generation)
{
    struct pleat_mailbox_segment *segment = mailbox->segment;
    pleat_mailbox_resume(mailbox, generation);
    atomic_store(&segment->go, 1);
    pleat_word_wake(&segment->go);
}

void pleat_mailbox_dismiss(struct pleat_mailbox *mailbox)
{
    atomic_store(&mailbox->segment->dismissed, 1);
    pleat_word_wake(&mailbox->segment->dismissed);
}

static void write_request(struct pleat_mailbox_segment *segment,
                          const struct pleat_mailbox_request *request, uint32_t from)
{
    atomic_store(&segment->resize, request->resize);
    atomic_store(&segment->target, request->target);
    atomic_store(&segment->mandatory, request->mandatory ? 1u : 0u);
    atomic_store(&segment->occasion, request->occasion);
    atomic_store(&segment->from, from);
    atomic_store(&segment->relaunch, request->relaunch ? 1u : 0u);
    atomic_store(&segment->beside, request->relaunch && request->beside ? 1u : 0u);
    atomic_store(&segment->checkpoint, (uint32_t)request->checkpoint);
    atomic_store(&segment->stays, request->stays ? 1u : 0u);
    atomic_store(&segment->next_nodes, request->next_nodes);
}

void pleat_mailbox_recall(struct pleat_mailbox *mailbox,
                          const struct pleat_mailbox_request *request, uint32_t from)
{
    write_request(mailbox->segment, request, from);
}

/* Writes the fields of a request while the word is idle: only the agent changes an idle word. */
static int begin_request(struct pleat_mailbox *mailbox, const struct pleat_mailbox_request *request,
                         uint64_t *word)
{
    if (request->target < 1)
        return PLEAT_E_INVALID;
    if (request->target > mailbox->max_ranks)
        return PLEAT_E_TOOBIG;
    struct pleat_mailbox_segment *segment = mailbox->segment;
    *word = atomic_load(&segment->word);
    bool passed = pleat_word_state(*word) == PLEAT_WORD_DROPPED &&
                  pleat_mailbox_slowest(mailbox) >= pleat_word_iteration(*word);
    if (pleat_word_state(*word) != PLEAT_WORD_IDLE && !passed)
        return PLEAT_E_BUSY;
    mailbox->was_settled = false;
    write_request(segment, request, 0);
    atomic_store(&segment->posted_ns, pleat_word_now_ns());
    return 0;
}

int pleat_mailbox_ask(struct pleat_mailbox *mailbox, const struct pleat_mailbox_request *request)
{
    uint64_t word;
    int code = begin_request(mailbox, request, &word);
    if (code)
        return code;
    uint64_t next = pleat_word_make(pleat_word_sequence(word) + 1, 0, PLEAT_WORD_ASKED);
    return atomic_compare_exchange_strong(&mailbox->segment->word, &word, next) ? 0 : PLEAT_E_BUSY;
}

static int propose(struct pleat_mailbox *mailbox, uint64_t word, uint32_t margin)
{
    uint64_t next =
        pleat_word_make(pleat_word_sequence(word) + 1, pleat_mailbox_fastest(mailbox) + 1 + margin,
                        PLEAT_WORD_PROPOSED);
    if (!atomic_compare_exchange_strong(&mailbox->segment->word, &word, next))
        return PLEAT_E_BUSY;
    pleat_word_help(mailbox, next);
    return 0;
}

int pleat_mailbox_post(struct pleat_mailbox *mailbox, const struct pleat_mailbox_request *request)
{
    uint64_t word;
    int code = begin_request(mailbox, request, &word);
    return code ? code : propose(mailbox, word, request->margin);
}

int pleat_mailbox_post_checkpoint(struct pleat_mailbox *mailbox, uint64_t id, const char *path,
                                  bool leave)
{
    uint64_t copy[PLEAT_MAILBOX_PATH / 8] = {0};
    const struct pleat_mailbox_request request = {
        .resize = id,
        .target = pleat_mailbox_size(mailbox),
        .checkpoint = leave ? PLEAT_MAILBOX_CHECKPOINT_AND_LEAVE : PLEAT_MAILBOX_CHECKPOINT};
    uint64_t word;
    size_t length = strlen(path);
    if (length >= sizeof(copy))
        return PLEAT_E_TOOBIG;
    if (!request.target)
        return PLEAT_E_STATE;
    int code = begin_request(mailbox, &request, &word);
    if (code)
        return code;
    memcpy(copy, path, length);
    for (size_t i = 0; i < PLEAT_MAILBOX_PATH / 8; i++)
        atomic_store_explicit(&mailbox->segment->path[i], copy[i], memory_order_relaxed);
    return propose(mailbox, word, 0);
}

int pleat_mailbox_withdraw(struct pleat_mailbox *mailbox)
{
    uint64_t word = atomic_load(&mailbox->segment->word);
    for (;;) {
        enum pleat_word_state state = pleat_word_state(word);
        if (state != PLEAT_WORD_ASKED && state != PLEAT_WORD_PROPOSED && state != PLEAT_WORD_HELD &&
            (mailbox->nodes > 1 ||
             (state != PLEAT_WORD_COMMITTED && state != PLEAT_WORD_ANNOUNCED)))
            return PLEAT_E_STATE;
        /* ranks that have not passed the point where others learned of it must learn the same */
        bool known =
            state == PLEAT_WORD_ANNOUNCED || (mailbox->was_settled && pleat_mailbox_ahead(mailbox));
        enum pleat_word_state to = known ? PLEAT_WORD_DROPPED : PLEAT_WORD_IDLE;
        if (atomic_compare_exchange_strong(&mailbox->segment->word, &word,
                                           pleat_word_become(word, to)))
            break;
    }
    pleat_word_wake_settled(mailbox);
    return 0;
}

void pleat_mailbox_acknowledge(struct pleat_mailbox *mailbox)
{
    uint64_t word = atomic_load(&mailbox->segment->word);
    enum pleat_word_state state = pleat_word_state(word);
    /* No rank changes these states, so one attempt is enough. */
    if (state == PLEAT_WORD_ANSWERED || state == PLEAT_WORD_APPLIED || state == PLEAT_WORD_FAILED ||
        state == PLEAT_WORD_PUT_OFF)
        (void)atomic_compare_exchange_strong(&mailbox->segment->word, &word,
                                             pleat_word_become(word, PLEAT_WORD_IDLE));
}

static enum pleat_mailbox_phase phase_of(uint64_t word)
{
    switch (pleat_word_state(word)) {
    case PLEAT_WORD_ANSWERED:
        return PLEAT_MAILBOX_ANSWERED;
    case PLEAT_WORD_APPLIED:
        return PLEAT_MAILBOX_APPLIED;
    case PLEAT_WORD_FAILED:
        return PLEAT_MAILBOX_FAILED;
    case PLEAT_WORD_ASKED:
        return PLEAT_MAILBOX_ASKED;
    case PLEAT_WORD_PROPOSED:
    case PLEAT_WORD_COMMITTED:
    case PLEAT_WORD_ANNOUNCED:
    case PLEAT_WORD_HELD:
        return PLEAT_MAILBOX_POSTED;
    case PLEAT_WORD_ENTERED:
        return PLEAT_MAILBOX_ENTERED;
    case PLEAT_WORD_SAVED:
        return PLEAT_MAILBOX_SAVED;
    case PLEAT_WORD_PUT_OFF:
        return PLEAT_MAILBOX_PUT_OFF;
    case PLEAT_WORD_IDLE:
    case PLEAT_WORD_DROPPED:
        break;
    }
    return PLEAT_MAILBOX_IDLE;
}

/* The rank may be publishing meanwhile: the squares may be of an iteration more than the count. On
 * another grid it counts from 0, and says so first; so where the grid is the same before and after,
 * that is the one on which these iterations were. */
static void read_times(const struct pleat_mailbox_segment *segment,
                       struct pleat_mailbox_status *status)
{
    const struct pleat_mailbox_slot *slot = &segment->slots[0];
    uint64_t grid = atomic_load(&segment->grid);
    uint64_t count = atomic_load(&slot->busy_count), bits = atomic_load(&slot->busy_squares);
    uint64_t busy_ns = atomic_load(&slot->busy_ns);
    if (!count || grid != atomic_load(&segment->grid))
        return;
    status->grid = grid;
    status->iterations = count;
    status->iteration_ns = busy_ns / count;
    memcpy(&status->squares, &bits, sizeof(bits));
}

void pleat_mailbox_status(const struct pleat_mailbox *mailbox, struct pleat_mailbox_status *status)
{
    const struct pleat_mailbox_segment *segment = mailbox->segment;
    memset(status, 0, sizeof(*status));
    /* The word is read first: the fields that it refers to were written before it. */
    status->phase = phase_of(atomic_load(&segment->word));
    status->resize = atomic_load(&segment->resize);
    status->size = pleat_mailbox_size(mailbox);
    uint32_t accepted = atomic_load(&segment->accepted);
    status->accepted = accepted <= mailbox->max_ranks ? accepted : mailbox->max_ranks;
    status->attached = atomic_load(&segment->attached) != 0;
    status->finished = atomic_load(&segment->finished) != 0;
    /* Likewise, what was loaded is written before "begun". */
    status->begun = atomic_load(&segment->begun) != 0;
    status->loaded = atomic_load(&segment->loaded) != 0;
    status->spared = atomic_load(&segment->spared);
    status->limit = atomic_load(&segment->limit);
    status->waits = atomic_load(&segment->waits) != 0;
    status->keeps = atomic_load(&segment->keeps) != 0;
    status->kept = atomic_load(&segment->kept);
    status->kept_ns = atomic_load(&segment->kept_ns);
    status->kept_at_us = atomic_load(&segment->kept_at_us);
    status->unkept = atomic_load(&segment->unkept);
    status->written = atomic_load(&segment->written);
    status->limits = atomic_load(&segment->limits);
    status->lacks = !status->begun && atomic_load(&segment->lacks) != 0;
    uint32_t surplus = atomic_load(&segment->surplus);
    status->surplus =
        surplus <= mailbox->max_ranks - status->size ? surplus : mailbox->max_ranks - status->size;
    for (uint32_t rank = 0; rank < status->size; rank++)
        status->waiting += atomic_load(&segment->slots[rank].waiting) == 1;
    uint64_t slowest = pleat_mailbox_slowest(mailbox);
    status->iteration = slowest != UINT64_MAX ? slowest : 0;
    status->not_now = pleat_mailbox_sections(mailbox, &status->section_ns);
    status->passages = pleat_mailbox_passages(mailbox);
    read_times(segment, status);
    uint64_t cost[PLEAT_MAILBOX_COSTS];
    for (size_t i = 0; i < PLEAT_MAILBOX_COSTS; i++)
        cost[i] = atomic_load(&segment->cost[i]);
    memcpy(&status->cost, cost, sizeof(cost));
}

static void read_text(const _Atomic uint64_t *words, char *text, size_t size)
{
    if (!size)
        return;
    uint64_t copy[PLEAT_MAILBOX_TEXT / 8];
    for (size_t i = 0; i < PLEAT_MAILBOX_TEXT / 8; i++)
        copy[i] = atomic_load_explicit(&words[i], memory_order_relaxed);
    const char *from = (const char *)copy;
    size_t used = 0;
    while (used < size - 1 && used < PLEAT_MAILBOX_TEXT - 1 && from[used]) {
        text[used] = from[used] >= ' ' && from[used] <= '~' ? from[used] : '?';
        used++;
    }
    text[used] = '\0';
}

void pleat_mailbox_failure(const struct pleat_mailbox *mailbox, char *text, size_t size)
{
    read_text(mailbox->segment->text, text, size);
}

bool pleat_mailbox_take_wanted(struct pleat_mailbox *mailbox)
{
    return atomic_load(&mailbox->segment->wanted) &&
           atomic_exchange(&mailbox->segment->wanted, 0u) != 0;
}

void pleat_mailbox_why_unkept(const struct pleat_mailbox *mailbox, char *text, size_t size)
{
    read_text(mailbox->segment->unkept_text, text, size);
}

uint32_t pleat_mailbox_pids(const struct pleat_mailbox *mailbox, uint32_t first, uint32_t count,
                            int32_t *pids)
{
    uint32_t written = 0;
    while (written < count && first < mailbox->max_ranks && written < mailbox->max_ranks - first) {
        int32_t pid = atomic_load(&mailbox->segment->slots[first + written].pid);
        pids[written++] = pid > 0 ? pid : 0;
    }
    return written;
}

/* ---- opening, in a rank ---- */

static int check_size(const char *path, struct pleat_mailbox *mailbox, struct pleat_error *err)
{
    uint32_t max_ranks = mailbox->segment->header.count;
    if (max_ranks < 1 || max_ranks > PLEAT_MAILBOX_MAX_RANKS ||
        segment_bytes(max_ranks) != mailbox->bytes)
        return pleat_segment_contradicts(&mailbox_kind, path, mailbox->bytes, err);
    mailbox->max_ranks = max_ranks;
    mailbox->node = atomic_load(&mailbox->segment->node);
    mailbox->nodes = atomic_load(&mailbox->segment->nodes);
    mailbox->nodes += mailbox->nodes == 0;
    if (mailbox->node >= mailbox->nodes)
        return pleat_segment_contradicts(&mailbox_kind, path, mailbox->bytes, err);
    return 0;
}

int pleat_mailbox_open(const char *path, struct pleat_mailbox **mailbox, struct pleat_error *err)
{
    struct pleat_mailbox *made = new_mailbox(err);
    if (!made)
        return PLEAT_E_NOMEM;
    void *at = NULL;
    int code = pleat_segment_open(&mailbox_kind, path, &at, &made->bytes, err);
    if (code) {
        free(made);
        return code;
    }
    made->segment = at;
    code = check_size(path, made, err);
    if (code) {
        pleat_mailbox_close(made);
        return code;
    }
    *mailbox = made;
    return 0;
}

void pleat_mailbox_close(struct pleat_mailbox *mailbox)
{
    if (!mailbox)
        return;
    munmap(mailbox->segment, mailbox->bytes);
    free(mailbox);
}

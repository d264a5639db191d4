#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "shm/mailbox-rank.h"

#define STATE_BITS 3
#define SEQUENCE_BITS 16
#define ITERATION_SHIFT (STATE_BITS + SEQUENCE_BITS)
#define SEQUENCE_MASK ((UINT64_C(1) << SEQUENCE_BITS) - 1)
/* Without shrinking, no reader can be hit by SIGBUS, whatever the other side does. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)
#define HELP_ROUNDS 64

static_assert(sizeof(struct pleat_mailbox_slot) == PLEAT_MAILBOX_LINE, "one line per rank");

struct pleat_mailbox {
    struct pleat_mailbox_segment *segment;
    size_t bytes;
    uint32_t max_ranks; /* never read again from the segment */
};

static uint64_t word_make(uint64_t sequence, uint64_t iteration, enum pleat_word_state state)
{
    return iteration << ITERATION_SHIFT | (sequence & SEQUENCE_MASK) << STATE_BITS |
           (uint64_t)state;
}

static enum pleat_word_state word_state(uint64_t word)
{
    return (enum pleat_word_state)(word & ((1u << STATE_BITS) - 1));
}

static uint64_t word_sequence(uint64_t word)
{
    return word >> STATE_BITS & SEQUENCE_MASK;
}

static uint64_t word_iteration(uint64_t word)
{
    return word >> ITERATION_SHIFT;
}

/* The same request in another state. */
static uint64_t word_become(uint64_t word, enum pleat_word_state state)
{
    return word_make(word_sequence(word), word_iteration(word), state);
}

static uint64_t now_ns(void)
{
    return (uint64_t)pleat_clock_monotonic_ns();
}

static size_t segment_bytes(uint32_t max_ranks)
{
    return sizeof(struct pleat_mailbox_segment) + max_ranks * sizeof(struct pleat_mailbox_slot);
}

static uint32_t current_size(const struct pleat_mailbox *mailbox)
{
    uint32_t size = atomic_load(&mailbox->segment->size);
    return size <= mailbox->max_ranks ? size : mailbox->max_ranks;
}

static uint64_t fastest(const struct pleat_mailbox *mailbox)
{
    uint64_t most = 0;
    uint32_t size = current_size(mailbox);
    for (uint32_t rank = 0; rank < size; rank++) {
        uint64_t iteration = atomic_load(&mailbox->segment->slots[rank].iteration);
        if (iteration > most)
            most = iteration;
    }
    return most;
}

/* Brings a proposal forward: commits it if nobody has reached its K, else proposes a later one.
 * Must be called with a proposal in the word, so that iterations are read after it was visible.
 * Returns the word as last seen; it may still be a proposal, which the ranks then bring forward. */
static uint64_t help(struct pleat_mailbox *mailbox, uint64_t word)
{
    _Atomic uint64_t *shared = &mailbox->segment->word;
    for (unsigned round = 0; round < HELP_ROUNDS; round++) {
        if (word_state(word) != PLEAT_WORD_PROPOSED)
            return word;
        uint64_t most = fastest(mailbox);
        /* Ranks that overtake the proposal again and again are met by a growing distance. */
        uint64_t later = most + (UINT64_C(1) << (round < 6 ? round : 6));
        uint64_t next = most < word_iteration(word)
                            ? word_become(word, PLEAT_WORD_COMMITTED)
                            : word_make(word_sequence(word), later, PLEAT_WORD_PROPOSED);
        if (atomic_compare_exchange_strong(shared, &word, next))
            word = next;
    }
    return word;
}

static int map_segment(int fd, size_t bytes, struct pleat_mailbox **mailbox,
                       struct pleat_error *err)
{
    struct pleat_mailbox *made = calloc(1, sizeof(*made));
    if (!made)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for a mailbox");
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        int code = pleat_error_sys(err, errno, "cannot map a mailbox of %zu bytes", bytes);
        free(made);
        return code;
    }
    made->segment = at;
    made->bytes = bytes;
    *mailbox = made;
    return 0;
}

/* ---- the agent's side ---- */

int pleat_mailbox_create(uint32_t max_ranks, struct pleat_mailbox **mailbox, int *fd,
                         struct pleat_error *err)
{
    if (max_ranks < 1 || max_ranks > PLEAT_MAILBOX_MAX_RANKS)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a mailbox for %u ranks is not possible: choose 1 to %u", max_ranks,
                               PLEAT_MAILBOX_MAX_RANKS);
    size_t bytes = segment_bytes(max_ranks);
    int made = memfd_create("pleat-mailbox", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made < 0)
        return pleat_error_sys(err, errno, "cannot create the mailbox's memory");
    int code = 0;
    if (ftruncate(made, (off_t)bytes) || fcntl(made, F_ADD_SEALS, SEALS))
        code = pleat_error_sys(err, errno, "cannot size the mailbox to %zu bytes", bytes);
    else
        code = map_segment(made, bytes, mailbox, err);
    if (code) {
        close(made);
        return code;
    }
    (*mailbox)->max_ranks = max_ranks;
    struct pleat_mailbox_segment *segment = (*mailbox)->segment;
    segment->version = PLEAT_MAILBOX_VERSION;
    segment->max_ranks = max_ranks;
    segment->magic = PLEAT_MAILBOX_MAGIC;
    *fd = made;
    return 0;
}

/* Only the agent leaves IDLE, so it may write the request's fields while it finds the word there.
 */
static int begin_request(struct pleat_mailbox *mailbox, const struct pleat_mailbox_request *request,
                         uint64_t *word)
{
    if (request->target < 1)
        return PLEAT_E_INVALID;
    if (request->target > mailbox->max_ranks)
        return PLEAT_E_TOOBIG;
    struct pleat_mailbox_segment *segment = mailbox->segment;
    *word = atomic_load(&segment->word);
    if (word_state(*word) != PLEAT_WORD_IDLE)
        return PLEAT_E_BUSY;
    atomic_store(&segment->resize, request->resize);
    atomic_store(&segment->target, request->target);
    atomic_store(&segment->mandatory, request->mandatory ? 1u : 0u);
    atomic_store(&segment->posted_ns, now_ns());
    return 0;
}

int pleat_mailbox_ask(struct pleat_mailbox *mailbox, const struct pleat_mailbox_request *request)
{
    uint64_t word;
    int code = begin_request(mailbox, request, &word);
    if (code)
        return code;
    uint64_t next = word_make(word_sequence(word) + 1, 0, PLEAT_WORD_ASKED);
    return atomic_compare_exchange_strong(&mailbox->segment->word, &word, next) ? 0 : PLEAT_E_BUSY;
}

int pleat_mailbox_post(struct pleat_mailbox *mailbox, const struct pleat_mailbox_request *request)
{
    uint64_t word;
    int code = begin_request(mailbox, request, &word);
    if (code)
        return code;
    uint64_t next = word_make(word_sequence(word) + 1, fastest(mailbox) + 1, PLEAT_WORD_PROPOSED);
    if (!atomic_compare_exchange_strong(&mailbox->segment->word, &word, next))
        return PLEAT_E_BUSY;
    help(mailbox, next);
    return 0;
}

int pleat_mailbox_withdraw(struct pleat_mailbox *mailbox)
{
    uint64_t word = atomic_load(&mailbox->segment->word);
    for (;;) {
        enum pleat_word_state state = word_state(word);
        if (state != PLEAT_WORD_ASKED && state != PLEAT_WORD_PROPOSED &&
            state != PLEAT_WORD_COMMITTED)
            return PLEAT_E_STATE;
        if (atomic_compare_exchange_strong(&mailbox->segment->word, &word,
                                           word_become(word, PLEAT_WORD_IDLE)))
            return 0;
    }
}

void pleat_mailbox_acknowledge(struct pleat_mailbox *mailbox)
{
    uint64_t word = atomic_load(&mailbox->segment->word);
    enum pleat_word_state state = word_state(word);
    /* No rank leaves these states: one attempt is enough. */
    if (state == PLEAT_WORD_ANSWERED || state == PLEAT_WORD_APPLIED || state == PLEAT_WORD_FAILED)
        (void)atomic_compare_exchange_strong(&mailbox->segment->word, &word,
                                             word_become(word, PLEAT_WORD_IDLE));
}

static enum pleat_mailbox_phase phase_of(uint64_t word)
{
    switch (word_state(word)) {
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
        return PLEAT_MAILBOX_POSTED;
    case PLEAT_WORD_ENTERED:
        return PLEAT_MAILBOX_ENTERED;
    case PLEAT_WORD_IDLE:
        break;
    }
    return PLEAT_MAILBOX_IDLE;
}

void pleat_mailbox_status(const struct pleat_mailbox *mailbox, struct pleat_mailbox_status *status)
{
    const struct pleat_mailbox_segment *segment = mailbox->segment;
    memset(status, 0, sizeof(*status));
    /* The word first: what it promises was written before it. */
    status->phase = phase_of(atomic_load(&segment->word));
    status->resize = atomic_load(&segment->resize);
    status->size = current_size(mailbox);
    uint32_t accepted = atomic_load(&segment->accepted);
    status->accepted = accepted <= mailbox->max_ranks ? accepted : mailbox->max_ranks;
    status->attached = atomic_load(&segment->attached) != 0;
    status->finished = atomic_load(&segment->finished) != 0;
    for (uint32_t rank = 0; rank < status->size; rank++) {
        uint64_t iteration = atomic_load(&segment->slots[rank].iteration);
        if (rank == 0 || iteration < status->iteration)
            status->iteration = iteration;
    }
    uint64_t count = atomic_load(&segment->slots[0].busy_count);
    if (count)
        status->iteration_ns = atomic_load(&segment->slots[0].busy_ns) / count;
    status->cost.wait_ns = atomic_load(&segment->cost[0]);
    status->cost.processes_ns = atomic_load(&segment->cost[1]);
    status->cost.redistribute_ns = atomic_load(&segment->cost[2]);
    status->cost.total_ns = atomic_load(&segment->cost[3]);
    status->cost.bytes = atomic_load(&segment->cost[4]);
}

void pleat_mailbox_failure(const struct pleat_mailbox *mailbox, char *text, size_t size)
{
    if (!size)
        return;
    uint64_t copy[PLEAT_MAILBOX_TEXT / 8];
    for (size_t i = 0; i < PLEAT_MAILBOX_TEXT / 8; i++)
        copy[i] = atomic_load_explicit(&mailbox->segment->text[i], memory_order_relaxed);
    const char *from = (const char *)copy;
    size_t used = 0;
    while (used < size - 1 && used < PLEAT_MAILBOX_TEXT - 1 && from[used]) {
        text[used] = from[used] >= ' ' && from[used] <= '~' ? from[used] : '?';
        used++;
    }
    text[used] = '\0';
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

/* ---- a rank's side ---- */

static int check_segment(const char *path, int fd, size_t *bytes, struct pleat_error *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return pleat_error_sys(err, errno, "cannot look at the mailbox %s", path);
    int seals = fcntl(fd, F_GET_SEALS);
    if (!S_ISREG(st.st_mode) || seals < 0 || (seals & SEALS) != SEALS)
        return pleat_error_set(
            err, PLEAT_E_CORRUPT,
            "%s is not a mailbox (no sealed memory): was " PLEAT_MAILBOX_ENV " set by hand?", path);
    if (st.st_size < (off_t)segment_bytes(1) ||
        st.st_size > (off_t)segment_bytes(PLEAT_MAILBOX_MAX_RANKS))
        return pleat_error_set(err, PLEAT_E_CORRUPT, "%s is not a mailbox: it has %lld bytes", path,
                               (long long)st.st_size);
    *bytes = (size_t)st.st_size;
    return 0;
}

static int check_header(const char *path, struct pleat_mailbox *mailbox, struct pleat_error *err)
{
    const struct pleat_mailbox_segment *segment = mailbox->segment;
    if (segment->magic != PLEAT_MAILBOX_MAGIC)
        return pleat_error_set(err, PLEAT_E_CORRUPT, "%s is not a mailbox: wrong magic number",
                               path);
    if (segment->version != PLEAT_MAILBOX_VERSION)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "the mailbox %s has version %u, this libpleat speaks %u: use the "
                               "library that belongs to the running pleat",
                               path, segment->version, PLEAT_MAILBOX_VERSION);
    uint32_t max_ranks = segment->max_ranks;
    if (max_ranks < 1 || max_ranks > PLEAT_MAILBOX_MAX_RANKS ||
        segment_bytes(max_ranks) != mailbox->bytes)
        return pleat_error_set(err, PLEAT_E_CORRUPT,
                               "the mailbox %s says %u ranks, which its %zu bytes contradict", path,
                               max_ranks, mailbox->bytes);
    mailbox->max_ranks = max_ranks;
    return 0;
}

int pleat_mailbox_open(const char *path, struct pleat_mailbox **mailbox, struct pleat_error *err)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return pleat_error_sys(err, errno, "cannot open the mailbox %s (has its agent ended?)",
                               path);
    size_t bytes = 0;
    struct pleat_mailbox *made = NULL;
    int code = check_segment(path, fd, &bytes, err);
    if (!code)
        code = map_segment(fd, bytes, &made, err);
    close(fd);
    if (!code && made)
        code = check_header(path, made, err);
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

int pleat_mailbox_attach(struct pleat_mailbox *mailbox, uint32_t rank, uint64_t iteration,
                         int doorbell, struct pleat_mailbox_rank *self)
{
    if (rank >= mailbox->max_ranks)
        return PLEAT_E_TOOBIG;
    struct pleat_mailbox_slot *slot = &mailbox->segment->slots[rank];
    *self = (struct pleat_mailbox_rank){.mailbox = mailbox,
                                        .slot = slot,
                                        .word = &mailbox->segment->word,
                                        .iteration = iteration,
                                        .entered = iteration,
                                        .rank = rank,
                                        .doorbell = doorbell};
    pleat_mailbox_publish(self, 0, 0);
    atomic_store(&slot->entered_ns, 0);
    atomic_store(&slot->iteration, iteration);
    atomic_store(&slot->pid, (int32_t)getpid());
    return 0;
}

int pleat_mailbox_set_size(struct pleat_mailbox_rank *self, uint32_t size)
{
    struct pleat_mailbox *mailbox = self->mailbox;
    if (size < 1 || size > mailbox->max_ranks)
        return PLEAT_E_TOOBIG;
    atomic_store(&mailbox->segment->size, size);
    atomic_store(&mailbox->segment->finished, 0);
    atomic_store(&mailbox->segment->attached, 1);
    return 0;
}

int pleat_mailbox_arrive_slow(struct pleat_mailbox_rank *self, uint64_t word)
{
    for (;;) {
        uint64_t iteration = word_iteration(word);
        switch (word_state(word)) {
        case PLEAT_WORD_ASKED:
            return self->rank == 0 ? PLEAT_ARRIVAL_ANSWER : PLEAT_ARRIVAL_QUIET;
        case PLEAT_WORD_PROPOSED:
            word = help(self->mailbox, word);
            /* A proposal that this rank has not reached yet meets it again later. */
            if (word_state(word) == PLEAT_WORD_PROPOSED && word_iteration(word) > self->iteration)
                return PLEAT_ARRIVAL_QUIET;
            break;
        case PLEAT_WORD_COMMITTED:
            if (iteration > self->iteration)
                return PLEAT_ARRIVAL_QUIET;
            if (iteration < self->iteration)
                return PLEAT_E_CORRUPT;
            /* Published before the swap: whoever applies the resize reads it after. */
            atomic_store(&self->slot->entered_ns, now_ns());
            if (atomic_compare_exchange_strong(self->word, &word,
                                               word_become(word, PLEAT_WORD_ENTERED))) {
                self->entered = iteration;
                return PLEAT_ARRIVAL_ENTER;
            }
            break;
        case PLEAT_WORD_ENTERED:
            /* Rank 0 may still be about to say "applied" when another goes on computing. */
            if (iteration > self->iteration || iteration == self->entered)
                return PLEAT_ARRIVAL_QUIET;
            if (iteration < self->iteration)
                return PLEAT_E_CORRUPT;
            atomic_store(&self->slot->entered_ns, now_ns());
            self->entered = iteration;
            return PLEAT_ARRIVAL_ENTER;
        case PLEAT_WORD_IDLE:
        case PLEAT_WORD_ANSWERED:
        case PLEAT_WORD_APPLIED:
        case PLEAT_WORD_FAILED:
            return PLEAT_ARRIVAL_QUIET;
        }
    }
}

int pleat_mailbox_request(const struct pleat_mailbox_rank *self,
                          struct pleat_mailbox_request *request)
{
    const struct pleat_mailbox_segment *segment = self->mailbox->segment;
    request->resize = atomic_load(&segment->resize);
    request->target = atomic_load(&segment->target);
    request->mandatory = atomic_load(&segment->mandatory) != 0;
    return request->target >= 1 && request->target <= self->mailbox->max_ranks ? 0
                                                                               : PLEAT_E_CORRUPT;
}

int pleat_mailbox_entered(const struct pleat_mailbox *mailbox, uint64_t *iteration)
{
    uint64_t word = atomic_load(&mailbox->segment->word);
    if (word_state(word) != PLEAT_WORD_ENTERED)
        return PLEAT_E_STATE;
    *iteration = word_iteration(word);
    return 0;
}

void pleat_mailbox_ring(const struct pleat_mailbox_rank *self)
{
    /* A full pipe rings already; nobody listening is not the application's concern. */
    if (self->doorbell >= 0 && write(self->doorbell, "!", 1) < 0)
        return;
}

static void conclude(struct pleat_mailbox_rank *self, enum pleat_word_state from,
                     enum pleat_word_state to)
{
    uint64_t word = atomic_load(self->word);
    if (word_state(word) == from)
        (void)atomic_compare_exchange_strong(self->word, &word, word_become(word, to));
    pleat_mailbox_ring(self);
}

void pleat_mailbox_answer(struct pleat_mailbox_rank *self, uint32_t accepted)
{
    atomic_store(&self->mailbox->segment->accepted, accepted);
    conclude(self, PLEAT_WORD_ASKED, PLEAT_WORD_ANSWERED);
}

static uint64_t waited_ns(const struct pleat_mailbox *mailbox, uint32_t before)
{
    uint64_t posted = atomic_load(&mailbox->segment->posted_ns);
    uint64_t first = UINT64_MAX;
    for (uint32_t rank = 0; rank < before && rank < mailbox->max_ranks; rank++) {
        uint64_t entered = atomic_load(&mailbox->segment->slots[rank].entered_ns);
        if (entered && entered < first)
            first = entered;
    }
    return first != UINT64_MAX && first > posted ? first - posted : 0;
}

void pleat_mailbox_applied(struct pleat_mailbox_rank *self, uint32_t before, uint32_t size,
                           const struct pleat_mailbox_cost *cost)
{
    struct pleat_mailbox_segment *segment = self->mailbox->segment;
    atomic_store(&segment->cost[0], waited_ns(self->mailbox, before));
    atomic_store(&segment->cost[1], cost->processes_ns);
    atomic_store(&segment->cost[2], cost->redistribute_ns);
    atomic_store(&segment->cost[3], cost->total_ns);
    atomic_store(&segment->cost[4], cost->bytes);
    atomic_store(&segment->size, size);
    conclude(self, PLEAT_WORD_ENTERED, PLEAT_WORD_APPLIED);
}

void pleat_mailbox_failed(struct pleat_mailbox_rank *self, const char *text)
{
    uint64_t copy[PLEAT_MAILBOX_TEXT / 8] = {0};
    size_t length = strlen(text);
    memcpy(copy, text, length < sizeof(copy) ? length : sizeof(copy) - 1);
    for (size_t i = 0; i < PLEAT_MAILBOX_TEXT / 8; i++)
        atomic_store(&self->mailbox->segment->text[i], copy[i]);
    conclude(self, PLEAT_WORD_ENTERED, PLEAT_WORD_FAILED);
}

void pleat_mailbox_finish(struct pleat_mailbox_rank *self)
{
    atomic_store(&self->mailbox->segment->finished, 1);
    pleat_mailbox_ring(self);
}

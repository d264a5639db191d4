#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/mailbox-word.h"

/* Without shrinking, no reader can be hit by SIGBUS, whatever the other side does. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

static_assert(sizeof(struct pleat_mailbox_slot) == PLEAT_MAILBOX_LINE, "one line per rank");
static_assert(sizeof(struct pleat_mailbox_cost) == PLEAT_MAILBOX_COSTS * sizeof(uint64_t),
              "a cost is copied as an array");

static size_t segment_bytes(uint32_t max_ranks)
{
    return sizeof(struct pleat_mailbox_segment) + max_ranks * sizeof(struct pleat_mailbox_slot);
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
    if (pleat_word_state(*word) != PLEAT_WORD_IDLE)
        return PLEAT_E_BUSY;
    atomic_store(&segment->resize, request->resize);
    atomic_store(&segment->target, request->target);
    atomic_store(&segment->mandatory, request->mandatory ? 1u : 0u);
    atomic_store(&segment->relaunch, request->relaunch ? 1u : 0u);
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

int pleat_mailbox_post(struct pleat_mailbox *mailbox, const struct pleat_mailbox_request *request)
{
    uint64_t word;
    int code = begin_request(mailbox, request, &word);
    if (code)
        return code;
    uint64_t next = pleat_word_make(pleat_word_sequence(word) + 1,
                                    pleat_mailbox_fastest(mailbox) + 1, PLEAT_WORD_PROPOSED);
    if (!atomic_compare_exchange_strong(&mailbox->segment->word, &word, next))
        return PLEAT_E_BUSY;
    pleat_word_help(mailbox, next);
    return 0;
}

int pleat_mailbox_withdraw(struct pleat_mailbox *mailbox)
{
    uint64_t word = atomic_load(&mailbox->segment->word);
    for (;;) {
        enum pleat_word_state state = pleat_word_state(word);
        if (state != PLEAT_WORD_ASKED && state != PLEAT_WORD_PROPOSED &&
            state != PLEAT_WORD_COMMITTED)
            return PLEAT_E_STATE;
        if (atomic_compare_exchange_strong(&mailbox->segment->word, &word,
                                           pleat_word_become(word, PLEAT_WORD_IDLE)))
            return 0;
    }
}

void pleat_mailbox_acknowledge(struct pleat_mailbox *mailbox)
{
    uint64_t word = atomic_load(&mailbox->segment->word);
    enum pleat_word_state state = pleat_word_state(word);
    /* No rank leaves these states: one attempt is enough. */
    if (state == PLEAT_WORD_ANSWERED || state == PLEAT_WORD_APPLIED || state == PLEAT_WORD_FAILED)
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
        return PLEAT_MAILBOX_POSTED;
    case PLEAT_WORD_ENTERED:
        return PLEAT_MAILBOX_ENTERED;
    case PLEAT_WORD_SAVED:
        return PLEAT_MAILBOX_SAVED;
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
    status->size = pleat_mailbox_size(mailbox);
    uint32_t accepted = atomic_load(&segment->accepted);
    status->accepted = accepted <= mailbox->max_ranks ? accepted : mailbox->max_ranks;
    status->attached = atomic_load(&segment->attached) != 0;
    status->finished = atomic_load(&segment->finished) != 0;
    /* As for the word: whoever sees "begun" sees what was loaded. */
    status->begun = atomic_load(&segment->begun) != 0;
    status->loaded = atomic_load(&segment->loaded) != 0;
    for (uint32_t rank = 0; rank < status->size; rank++) {
        uint64_t iteration = atomic_load(&segment->slots[rank].iteration);
        if (rank == 0 || iteration < status->iteration)
            status->iteration = iteration;
    }
    uint64_t count = atomic_load(&segment->slots[0].busy_count);
    if (count)
        status->iteration_ns = atomic_load(&segment->slots[0].busy_ns) / count;
    uint64_t cost[PLEAT_MAILBOX_COSTS];
    for (size_t i = 0; i < PLEAT_MAILBOX_COSTS; i++)
        cost[i] = atomic_load(&segment->cost[i]);
    memcpy(&status->cost, cost, sizeof(cost));
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

/* ---- opening, in a rank ---- */

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

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "shm/mailbox-word.h"

#define HELP_ROUNDS 64

uint64_t pleat_word_help(struct pleat_mailbox *mailbox, uint64_t word)
{
    _Atomic uint64_t *shared = &mailbox->segment->word;
    for (unsigned round = 0; round < HELP_ROUNDS; round++) {
        if (pleat_word_state(word) != PLEAT_WORD_PROPOSED)
            return word;
        uint64_t most = pleat_mailbox_fastest(mailbox);
        /* Ranks that overtake the proposal again and again are met by proposing farther ahead each
         * time. */
        uint64_t reached = most + pleat_mailbox_ahead(mailbox);
        /* A rank that begins a section after this publishes the section, and then looks at the
         * word: it finds the committed resize, and puts it off. */
        if (reached < pleat_word_iteration(word) && pleat_mailbox_sections(mailbox, NULL))
            return word;
        enum pleat_word_state agreed = mailbox->nodes > 1 ? PLEAT_WORD_HELD : PLEAT_WORD_COMMITTED;
        uint64_t later = reached + (UINT64_C(1) << (round < 6 ? round : 6));
        uint64_t next =
            reached < pleat_word_iteration(word)
                ? pleat_word_become(word, agreed)
                : pleat_word_make(pleat_word_sequence(word), later, PLEAT_WORD_PROPOSED);
        if (atomic_compare_exchange_strong(shared, &word, next))
            word = next;
    }
    return word;
}

bool pleat_word_put_off(struct pleat_mailbox *mailbox, uint64_t word)
{
    uint64_t later = pleat_mailbox_fastest(mailbox) + 1 + pleat_mailbox_ahead(mailbox);
    uint64_t next = pleat_word_make(pleat_word_sequence(word), later, PLEAT_WORD_PROPOSED);
    if (!atomic_compare_exchange_strong(&mailbox->segment->word, &word, next))
        return false;
    (void)pleat_word_help(mailbox, next);
    return true;
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
                                        .places = mailbox->segment->places,
                                        .iteration = iteration,
                                        .entered = iteration,
                                        .announced = 0,
                                        .rank = rank,
                                        .doorbell = doorbell};
    pleat_mailbox_publish(self, 0, 0);
    atomic_store(&slot->entered_ns, 0);
    atomic_store(&slot->not_now, 0);
    atomic_store(&slot->iteration, iteration);
    atomic_store(&slot->pid, (int32_t)getpid());
    return 0;
}

uint64_t pleat_mailbox_take_resume(struct pleat_mailbox *mailbox)
{
    return atomic_exchange(&mailbox->segment->resume, 0);
}

int pleat_mailbox_claim(struct pleat_mailbox *mailbox)
{
    uint32_t held = PLEAT_HELD;
    if (atomic_compare_exchange_strong(&mailbox->segment->held, &held, PLEAT_HELD_CLAIMED))
        return 1;
    return held == PLEAT_HELD_CLAIMED ? PLEAT_E_BUSY : 0;
}

bool pleat_mailbox_wait_for(struct pleat_mailbox_rank *self, int64_t most_ns)
{
    _Atomic uint32_t *go = &self->mailbox->segment->go;
    if (!self->waits) {
        self->waits = true;
        atomic_store(&self->slot->waiting, 1);
        pleat_mailbox_ring(self);
    }
    while (!atomic_load(go)) {
        pleat_word_sleep_for(go, 0, most_ns);
        if (most_ns != PLEAT_NO_LIMIT && !atomic_load(go))
            return false;
    }
    atomic_store(&self->slot->waiting, 0);
    self->waits = false;
    return true;
}

bool pleat_mailbox_await_dismissal(const struct pleat_mailbox_rank *self, int64_t most_ns)
{
    _Atomic uint32_t *dismissed = &self->mailbox->segment->dismissed;
    const int64_t end_ns = pleat_clock_monotonic_ns() + most_ns;
    while (!atomic_load(dismissed)) {
        const int64_t left_ns = end_ns - pleat_clock_monotonic_ns();
        if (left_ns <= 0)
            return false;
        pleat_word_sleep_for(dismissed, 0, left_ns);
    }
    return true;
}

/* Moves a resize that was posted before this program told where it begins to count: it may be
 * agreed on for an iteration that no rank will reach. No rank has passed an adaptation point yet.
 */
static void bring_up_to(struct pleat_mailbox *mailbox, uint64_t iteration)
{
    _Atomic uint64_t *shared = &mailbox->segment->word;
    uint64_t word = atomic_load(shared);
    while (mailbox->nodes == 1 &&
           (pleat_word_state(word) == PLEAT_WORD_PROPOSED ||
            pleat_word_state(word) == PLEAT_WORD_COMMITTED) &&
           pleat_word_iteration(word) <= iteration + pleat_mailbox_ahead(mailbox)) {
        uint64_t next =
            pleat_word_make(pleat_word_sequence(word), iteration + 1 + pleat_mailbox_ahead(mailbox),
                            PLEAT_WORD_PROPOSED);
        if (atomic_compare_exchange_strong(shared, &word, next)) {
            (void)pleat_word_help(mailbox, next);
            return;
        }
    }
}

void pleat_mailbox_announce(struct pleat_mailbox_rank *self)
{
    atomic_store(&self->mailbox->segment->announces, 1);
    bring_up_to(self->mailbox, self->iteration);
}

int pleat_mailbox_set_size(struct pleat_mailbox_rank *self, uint32_t size)
{
    struct pleat_mailbox *mailbox = self->mailbox;
    if (size < 1 || size > mailbox->max_ranks)
        return PLEAT_E_TOOBIG;
    pleat_mailbox_forget_meetings(mailbox);
    atomic_store(&mailbox->segment->size, size);
    atomic_store(&mailbox->segment->finished, 0);
    atomic_store(&mailbox->segment->surplus, 0);
    uint64_t word = atomic_load(&mailbox->segment->word);
    /* the resize was announced to the ranks of an earlier program */
    if (pleat_word_state(word) == PLEAT_WORD_DROPPED)
        (void)atomic_compare_exchange_strong(&mailbox->segment->word, &word,
                                             pleat_word_become(word, PLEAT_WORD_IDLE));
    atomic_store(&mailbox->segment->waits, 1);
    atomic_store(&mailbox->segment->attached, 1);
    bring_up_to(mailbox, self->iteration);
    return 0;
}

/* A resize is committed, for this adaptation point or a later one. True: *arrival is what this rank
 * does; false: *word has changed meanwhile, and is to be looked at again. */
static bool arrive_committed(struct pleat_mailbox_rank *self, uint64_t *word, int *arrival)
{
    uint64_t iteration = pleat_word_iteration(*word);
    bool is_committed = pleat_word_state(*word) == PLEAT_WORD_COMMITTED;
    if (self->not_now && self->mailbox->nodes == 1 && is_committed) {
        (void)pleat_word_put_off(self->mailbox, *word);
        *word = atomic_load(self->word);
        return false;
    }
    if (iteration == self->iteration + 1 && pleat_mailbox_ahead(self->mailbox)) {
        /* the resize was committed before any rank passed this point, so all ranks will know of it
         */
        if (is_committed && !atomic_compare_exchange_strong(
                                self->word, word, pleat_word_become(*word, PLEAT_WORD_ANNOUNCED)))
            return false;
        self->announced = iteration;
    }
    if (iteration != self->iteration) {
        *arrival = iteration > self->iteration ? PLEAT_ARRIVAL_QUIET : PLEAT_E_CORRUPT;
        return true;
    }
    /* Published before the swap, after which rank 0 reads it. */
    atomic_store(&self->slot->entered_ns, pleat_word_now_ns());
    if (!atomic_compare_exchange_strong(self->word, word,
                                        pleat_word_become(*word, PLEAT_WORD_ENTERED)))
        return false;
    self->entered = iteration;
    *arrival = PLEAT_ARRIVAL_ENTER;
    return true;
}

int pleat_mailbox_arrive_slow(struct pleat_mailbox_rank *self, uint64_t word)
{
    int arrival;
    for (;;) {
        uint64_t iteration = pleat_word_iteration(word);
        switch (pleat_word_state(word)) {
        case PLEAT_WORD_ASKED:
            return self->rank == 0 && !self->not_now ? PLEAT_ARRIVAL_ANSWER : PLEAT_ARRIVAL_QUIET;
        case PLEAT_WORD_PROPOSED:
            word = pleat_word_help(self->mailbox, word);
            /* A proposal that this rank has not reached yet is met at a later adaptation point. */
            if (pleat_word_state(word) == PLEAT_WORD_PROPOSED &&
                pleat_word_iteration(word) > self->iteration)
                return PLEAT_ARRIVAL_QUIET;
            break;
        case PLEAT_WORD_DROPPED:
            if (iteration == self->iteration + 1)
                self->announced = iteration;
            return PLEAT_ARRIVAL_QUIET;
        case PLEAT_WORD_HELD:
            if (self->mailbox->nodes == 1 ||
                self->iteration + pleat_mailbox_ahead(self->mailbox) < iteration)
                return PLEAT_ARRIVAL_QUIET;
            word = pleat_word_await_settled(self->mailbox);
            break;
        case PLEAT_WORD_COMMITTED:
        case PLEAT_WORD_ANNOUNCED:
            if (arrive_committed(self, &word, &arrival))
                return arrival;
            break;
        case PLEAT_WORD_ENTERED:
            if (iteration == self->iteration + 1 && pleat_mailbox_ahead(self->mailbox))
                self->announced = iteration;
            /* Rank 0 may not have said "applied" yet when another rank goes on computing. */
            if (iteration > self->iteration || iteration == self->entered)
                return PLEAT_ARRIVAL_QUIET;
            if (iteration < self->iteration)
                return PLEAT_E_CORRUPT;
            atomic_store(&self->slot->entered_ns, pleat_word_now_ns());
            self->entered = iteration;
            return PLEAT_ARRIVAL_ENTER;
        case PLEAT_WORD_IDLE:
        case PLEAT_WORD_ANSWERED:
        case PLEAT_WORD_APPLIED:
        case PLEAT_WORD_FAILED:
        case PLEAT_WORD_SAVED:
        case PLEAT_WORD_PUT_OFF:
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
    request->occasion = atomic_load(&segment->occasion);
    request->from = atomic_load(&segment->from);
    request->relaunch = atomic_load(&segment->relaunch) != 0;
    request->beside = request->relaunch && atomic_load(&segment->beside) != 0;
    request->stays = atomic_load(&segment->stays) != 0;
    request->next_nodes = atomic_load(&segment->next_nodes);
    request->margin = 0;
    uint32_t checkpoint = atomic_load(&segment->checkpoint);
    request->checkpoint = checkpoint <= PLEAT_MAILBOX_CHECKPOINT_AND_LEAVE
                              ? (enum pleat_mailbox_checkpoint)checkpoint
                              : PLEAT_MAILBOX_NO_CHECKPOINT;
    return request->target >= 1 && request->target <= self->mailbox->max_ranks ? 0
                                                                               : PLEAT_E_CORRUPT;
}

int pleat_mailbox_path(const struct pleat_mailbox_rank *self, char path[PLEAT_MAILBOX_PATH])
{
    uint64_t copy[PLEAT_MAILBOX_PATH / 8];
    for (size_t i = 0; i < PLEAT_MAILBOX_PATH / 8; i++)
        copy[i] = atomic_load_explicit(&self->mailbox->segment->path[i], memory_order_relaxed);
    memcpy(path, copy, sizeof(copy));
    return path[0] == '/' && memchr(path, '\0', PLEAT_MAILBOX_PATH) ? 0 : PLEAT_E_CORRUPT;
}

int pleat_mailbox_entered(const struct pleat_mailbox *mailbox, uint64_t *iteration)
{
    uint64_t word = atomic_load(&mailbox->segment->word);
    if (pleat_word_state(word) != PLEAT_WORD_ENTERED)
        return PLEAT_E_STATE;
    *iteration = pleat_word_iteration(word);
    return 0;
}

void pleat_mailbox_ring(const struct pleat_mailbox_rank *self)
{
    /* A full pipe rings already. If no agent listens, that does not concern the application. */
    if (self->doorbell >= 0 && write(self->doorbell, "!", 1) < 0)
        return;
}

static void conclude(struct pleat_mailbox_rank *self, enum pleat_word_state from,
                     enum pleat_word_state to)
{
    uint64_t word = atomic_load(self->word);
    if (pleat_word_state(word) == from)
        (void)atomic_compare_exchange_strong(self->word, &word, pleat_word_become(word, to));
    pleat_mailbox_ring(self);
}

void pleat_mailbox_answer(struct pleat_mailbox_rank *self, uint32_t accepted)
{
    atomic_store(&self->mailbox->segment->accepted, accepted);
    conclude(self, PLEAT_WORD_ASKED, PLEAT_WORD_ANSWERED);
}

void pleat_mailbox_not_now(struct pleat_mailbox_rank *self, bool begins)
{
    self->not_now = begins;
    if (begins)
        atomic_store(&self->slot->section_ns, pleat_word_now_ns());
    atomic_store(&self->slot->not_now, begins ? 1u : 0u);
    uint64_t word = atomic_load(self->word);
    if (begins && self->mailbox->nodes > 1)
        word = pleat_word_await_settled(self->mailbox);
    while (begins && self->mailbox->nodes == 1 && pleat_word_state(word) == PLEAT_WORD_COMMITTED &&
           !pleat_word_put_off(self->mailbox, word))
        word = atomic_load(self->word);
}

void pleat_mailbox_put_off(struct pleat_mailbox_rank *self)
{
    uint64_t word = atomic_load(self->word);
    if (self->mailbox->nodes > 1) {
        conclude(self, PLEAT_WORD_ENTERED, PLEAT_WORD_PUT_OFF);
        return;
    }
    if (pleat_word_state(word) == PLEAT_WORD_ENTERED)
        (void)pleat_word_put_off(self->mailbox, word);
    pleat_mailbox_ring(self);
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

static void write_cost(struct pleat_mailbox_segment *segment, const struct pleat_mailbox_cost *cost)
{
    uint64_t copy[PLEAT_MAILBOX_COSTS];
    memcpy(copy, cost, sizeof(copy));
    for (size_t i = 0; i < PLEAT_MAILBOX_COSTS; i++)
        atomic_store(&segment->cost[i], copy[i]);
}

static void write_text(_Atomic uint64_t *to, const char *text)
{
    uint64_t copy[PLEAT_MAILBOX_TEXT / 8] = {0};
    size_t length = strlen(text);
    memcpy(copy, text, length < sizeof(copy) ? length : sizeof(copy) - 1);
    for (size_t i = 0; i < PLEAT_MAILBOX_TEXT / 8; i++)
        atomic_store(&to[i], copy[i]);
}

static void write_outcome(struct pleat_mailbox_rank *self, uint32_t before,
                          const struct pleat_mailbox_cost *cost, const char *text)
{
    struct pleat_mailbox_cost all = *cost;
    all.wait_ns = waited_ns(self->mailbox, before);
    write_cost(self->mailbox->segment, &all);
    write_text(self->mailbox->segment->text, text);
}

void pleat_mailbox_applied(struct pleat_mailbox_rank *self, uint32_t before, uint32_t size,
                           const struct pleat_mailbox_cost *cost, const char *warning)
{
    write_outcome(self, before, cost, warning);
    atomic_store(&self->mailbox->segment->surplus, 0);
    atomic_store(&self->mailbox->segment->size, size);
    conclude(self, PLEAT_WORD_ENTERED, PLEAT_WORD_APPLIED);
}

void pleat_mailbox_saved(struct pleat_mailbox_rank *self, uint32_t before,
                         const struct pleat_mailbox_cost *cost)
{
    write_outcome(self, before, cost, "");
    conclude(self, PLEAT_WORD_ENTERED, PLEAT_WORD_SAVED);
}

void pleat_mailbox_publish_grid(struct pleat_mailbox_rank *self, uint64_t grid)
{
    atomic_store(&self->mailbox->segment->grid, grid);
}

void pleat_mailbox_keeps(struct pleat_mailbox_rank *self)
{
    atomic_store(&self->mailbox->segment->keeps, 1u);
}

void pleat_mailbox_kept(struct pleat_mailbox_rank *self, uint64_t took_ns, uint64_t at_us)
{
    struct pleat_mailbox_segment *segment = self->mailbox->segment;
    atomic_store(&segment->kept_ns, took_ns);
    atomic_store(&segment->kept_at_us, at_us);
    atomic_store(&segment->kept, self->iteration);
}

void pleat_mailbox_want(struct pleat_mailbox_rank *self)
{
    atomic_store(&self->mailbox->segment->wanted, 1u);
    pleat_mailbox_ring(self);
}

void pleat_mailbox_unwant(struct pleat_mailbox_rank *self)
{
    atomic_store(&self->mailbox->segment->wanted, 0u);
}

void pleat_mailbox_unkept(struct pleat_mailbox_rank *self, const char *text)
{
    struct pleat_mailbox_segment *segment = self->mailbox->segment;
    write_text(segment->unkept_text, text);
    atomic_fetch_add(&segment->unkept, 1);
    pleat_mailbox_ring(self);
}

void pleat_mailbox_written(struct pleat_mailbox_rank *self, uint32_t ranks, bool leave,
                           const struct pleat_mailbox_cost *cost)
{
    write_outcome(self, ranks, cost, "");
    atomic_store(&self->mailbox->segment->written, self->iteration);
    conclude(self, PLEAT_WORD_ENTERED, leave ? PLEAT_WORD_SAVED : PLEAT_WORD_APPLIED);
}

void pleat_mailbox_failed(struct pleat_mailbox_rank *self, const char *text)
{
    write_text(self->mailbox->segment->text, text);
    conclude(self, PLEAT_WORD_ENTERED, PLEAT_WORD_FAILED);
}

void pleat_mailbox_spare(struct pleat_mailbox *mailbox, uint64_t launch)
{
    atomic_store(&mailbox->segment->spared, launch);
}

void pleat_mailbox_begun(struct pleat_mailbox_rank *self, const struct pleat_mailbox_cost *cost)
{
    struct pleat_mailbox_segment *segment = self->mailbox->segment;
    if (cost) {
        write_cost(segment, cost);
        atomic_store(&segment->loaded, 1u); /* also when a later session has begun anew */
    }
    atomic_store(&segment->begun, 1u);
    pleat_mailbox_ring(self);
}

void pleat_mailbox_cannot_begin(struct pleat_mailbox_rank *self, const char *text)
{
    write_text(self->mailbox->segment->text, text);
    pleat_mailbox_ring(self);
}

void pleat_mailbox_broken(struct pleat_mailbox_rank *self, const char *text)
{
    write_text(self->mailbox->segment->text, text);
    pleat_mailbox_ring(self);
}

void pleat_mailbox_finish(struct pleat_mailbox_rank *self)
{
    atomic_store(&self->mailbox->segment->finished, 1);
    pleat_mailbox_ring(self);
}

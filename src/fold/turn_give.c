/* Gives the processor away, and waits for it. */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "fold/turn_self.h"

/* The processor goes round the queue as long as a process found something in the last ROUNDS
 * rounds. That is since a wait of which nobody tells (inside a collective, one-sided access) ends
 * only when its process polls. */
#define ROUNDS 3u
/* After that the holder sleeps: first DOZE_US_MIN, then twice as long each time, up to DOZE_US_MAX.
 */
#define DOZE_US_MIN 20u
#define DOZE_US_MAX 200u
/* Nobody tells of messages from another node. So a waiting process looks after UNTOLD_US_MIN, also
 * if others could go on (which costs them some 5 us), and after a look in vain twice as long later,
 * up to UNTOLD_US_MAX. */
#define UNTOLD_US_MIN 50u
#define UNTOLD_US_MAX 400u
/* The same if all processes are on this node, so that only one-sided access and the like is not
 * told. */
#define UNTOLD_HERE_US 4000u
/* A holder that waits for another node polls this long before it sleeps: an answer through a
 * network takes less time than a sleep. */
#define POLL_FAR_NS UINT64_C(200000)
/* How long a process waits for the processor before it looks for itself; longer while another one
 * already watches the holder. */
#define LOOK_US 5000u
#define LOOK_SELDOM_US 20000u
/* Further attempts to give the processor away, if another process was faster. */
#define ATTEMPTS 4
/* The most idle processors to wake for an event that may concern any process. */
#define ALERTS_MAX 4u

static struct pleat_fold_processor *line_of(const struct turn_self *self)
{
    return turn_line(self, self->processor);
}

/* Returns when the word is not `word` any more, after the time given, or for no reason. */
static void sleep_on(struct turn_self *self, uint32_t word, uint32_t us)
{
    const struct timespec timeout = {.tv_sec = us / 1000000u,
                                     .tv_nsec = (long)(us % 1000000u) * 1000};
    syscall(SYS_futex, &self->slot->word, FUTEX_WAIT, word, &timeout, NULL, 0);
}

/* Changes the process's own word, unless another process has changed it. */
static bool change_word(struct turn_self *self, enum pleat_fold_state from,
                        enum pleat_fold_state to)
{
    uint32_t word = pleat_fold_word(from, self->processor);
    return atomic_compare_exchange_strong(&self->slot->word, &word,
                                          pleat_fold_word(to, self->processor));
}

/* Takes the processor, unless another process has given one to this process. */
static bool take(struct turn_self *self)
{
    struct pleat_fold_processor *line = line_of(self);
    uint32_t word = atomic_load(&self->slot->word);
    if (!pleat_fold_word_waits(word) ||
        !pleat_fold_grant(&self->fold->turns, self->index, word, self->processor))
        return false;
    atomic_store(&line->holder, self->index + 1);
    atomic_store(&line->idle, 0);
    return true;
}

/* Prepares to run again. */
static void resume(struct turn_self *self, uint64_t now_ns)
{
    turn_refresh(self); /* the process may have been moved by a change of which it does not know */
    turn_settle(self);
    atomic_store(&self->slot->seen, (uint32_t)atomic_load(&self->slot->mail));
    self->granted_ns = now_ns;
}

/* With a global queue: takes an idle processor whose holder has gone to another one. */
static bool take_deserted(struct turn_self *self)
{
    if (self->settings.queue != PLEAT_FOLD_QUEUE_GLOBAL)
        return false;
    for (uint32_t i = 0; i < self->processors; i++) {
        struct pleat_fold_processor *line = turn_line(self, i);
        uint32_t word = atomic_load(&self->slot->word), holder = atomic_load(&line->holder);
        if (!pleat_fold_word_waits(word))
            return true; /* the process was given one */
        if (!atomic_load(&line->idle) ||
            (holder >= 1 && holder <= self->fold->turns.slot_count &&
             pleat_fold_word_processor(atomic_load(&turn_slot(self, holder - 1)->word)) == i))
            continue;
        if (pleat_fold_grant(&self->fold->turns, self->index, word, i)) {
            atomic_store(&line->holder, self->index + 1);
            atomic_store(&line->idle, 0);
            return true;
        }
    }
    return false;
}

/* Waits until another process gives it a processor, or it takes one. */
static void park(struct turn_self *self)
{
    uint32_t bound_us = LOOK_US;
    for (;;) {
        uint32_t word = atomic_load(&self->slot->word);
        if (!pleat_fold_word_waits(word))
            return;
        sleep_on(self, word, bound_us);
        if (!pleat_fold_word_waits(atomic_load(&self->slot->word)))
            return;
        uint64_t now_ns = (uint64_t)pleat_clock_monotonic_ns();
        uint64_t looked_ns = atomic_load(&line_of(self)->watch_at_ns);
        turn_refresh(self);
        if (((!turn_hands_over(self) || turn_may_take(self, now_ns)) && take(self)) ||
            take_deserted(self))
            return;
        bound_us = atomic_load(&line_of(self)->watch_at_ns) == looked_ns ? LOOK_SELDOM_US : LOOK_US;
    }
}

/* Gives the processor to a waiting process. */
static bool give(struct turn_self *self, bool only_ready)
{
    struct pleat_fold_processor *line = line_of(self);
    struct turn_choice next;
    uint32_t holder = atomic_load(&line->holder);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (!turn_next(self, only_ready, &next))
            return false;
        bool moves = pleat_fold_word_processor(next.word) != self->processor;
        if (!pleat_fold_grant(&self->fold->turns, next.index, next.word, self->processor))
            continue;
        (void)atomic_compare_exchange_strong(&line->holder, &holder, next.index + 1);
        atomic_store_explicit(&line->idle, 0, memory_order_relaxed);
        if (moves)
            turn_move(self, next.index, self->processor);
        pleat_fold_wake(&self->fold->turns, next.index);
        return true;
    }
    return false;
}

/* Names another process that runs here as the holder: it computed for so long that one of them took
 * the processor beside it. */
static bool give_to_running(struct turn_self *self)
{
    struct pleat_fold_processor *line = line_of(self);
    uint32_t holder = atomic_load(&line->holder);
    for (uint32_t i = 0; i < self->member_count; i++) {
        uint32_t index = self->members[i];
        const struct pleat_fold_slot *slot = turn_slot(self, index);
        if (index != self->index && !atomic_load(&slot->away) &&
            pleat_fold_word_runs_on(atomic_load(&slot->word), self->processor))
            return atomic_compare_exchange_strong(&line->holder, &holder, index + 1);
    }
    return false;
}

/* No process of the queue has found anything for ROUNDS rounds. The process keeps the processor and
 * sleeps, until something is sent to one of the queue, or for a short time; then all look once
 * more. */
static void doze(struct turn_self *self)
{
    struct pleat_fold_processor *line = line_of(self);
    uint32_t us = atomic_load(&line->doze_us);
    if (us < DOZE_US_MIN || us > DOZE_US_MAX)
        us = DOZE_US_MIN;
    bool stays = change_word(self, PLEAT_FOLD_PARKED, PLEAT_FOLD_IDLE);
    /* Unless a process has just given it a processor. If that is another one, nobody is left on
     * this one. */
    if (!stays && pleat_fold_word_processor(atomic_load(&self->slot->word)) == self->processor)
        return;
    atomic_store(&line->idle, 1);
    atomic_store(self->fold->turns.any_idle, 1);
    if (!stays)
        return;
    /* A process that sent before it could see that the processor is idle has woken nobody. */
    if ((uint32_t)atomic_load(&self->slot->mail) == atomic_load(&self->slot->seen) &&
        !give(self, true))
        sleep_on(self, pleat_fold_word(PLEAT_FOLD_IDLE, self->processor), us);
    if (change_word(self, PLEAT_FOLD_IDLE, PLEAT_FOLD_PARKED)) {
        if (turn_is_held(self)) {
            park(self);
        } else if (take(self)) {
            atomic_store(&line->doze_us, us * 2 < DOZE_US_MAX ? us * 2 : DOZE_US_MAX);
            atomic_store(&line->vain, (ROUNDS - 1) * self->member_count);
        }
    }
    if (pleat_fold_word_waits(atomic_load(&self->slot->word)))
        park(self);
}

/* Plans when the process looks again even if others could go on. */
static void plan_look(struct turn_self *self, uint64_t now_ns)
{
    uint32_t us = self->look_us * 2;
    if (self->progressed)
        self->vain_since_ns = now_ns;
    if (self->progressed || us < UNTOLD_US_MIN)
        us = UNTOLD_US_MIN;
    if (us > UNTOLD_US_MAX)
        us = UNTOLD_US_MAX;
    self->look_us = us;
    self->now_ns = now_ns;
    atomic_store_explicit(&self->slot->look_ns,
                          now_ns + 1000u * (uint64_t)(self->is_part ? us : UNTOLD_HERE_US),
                          memory_order_relaxed);
}

/* Keeps the processor, if no process can use it, to poll for messages from other nodes. */
static bool keep(struct turn_self *self)
{
    return self->is_part && self->now_ns - self->vain_since_ns < POLL_FAR_NS && take(self);
}

/* Counts this turn; returns the number of turns in a row in which nothing was found. */
static uint32_t count_vain(struct turn_self *self)
{
    struct pleat_fold_processor *line = line_of(self);
    uint32_t vain = self->progressed ? 0 : atomic_load(&line->vain) + 1;
    if (self->progressed)
        atomic_store(&line->doze_us, DOZE_US_MIN);
    atomic_store(&line->vain, vain);
    turn_set_progressed(self, false);
    return vain;
}

void turn_hand_over(struct turn_self *self, uint64_t now_ns)
{
    struct pleat_fold_slot *slot = self->slot;
    turn_let_go(self, now_ns);
    atomic_store(&slot->away, 0);
    atomic_store_explicit(&slot->parked_ns, now_ns, memory_order_relaxed);
    turn_count_switch(self);
    plan_look(self, now_ns);
    uint32_t vain = count_vain(self);
    atomic_store(&slot->word, pleat_fold_word(PLEAT_FOLD_PARKED, self->processor));
    if (turn_is_held(self) || give(self, vain >= ROUNDS * self->member_count) ||
        give_to_running(self)) {
        /* The running process may have given way to this one before its word said that it waits. */
        if (turn_is_held(self) || !take(self))
            park(self);
    } else if (!keep(self)) {
        doze(self);
    }
    resume(self, (uint64_t)pleat_clock_monotonic_ns());
}

void turn_block(struct turn_self *self)
{
    uint32_t us = self->progressed || self->doze_us < DOZE_US_MIN ? DOZE_US_MIN : self->doze_us;
    turn_set_progressed(self, false);
    self->doze_us = us * 2 < DOZE_US_MAX ? us * 2 : DOZE_US_MAX;
    atomic_store(&self->slot->word, pleat_fold_word(PLEAT_FOLD_IDLE, self->processor));
    if ((uint32_t)atomic_load(&self->slot->mail) == atomic_load(&self->slot->seen))
        sleep_on(self, pleat_fold_word(PLEAT_FOLD_IDLE, self->processor), us);
    (void)change_word(self, PLEAT_FOLD_IDLE, PLEAT_FOLD_RUNNING);
    resume(self, (uint64_t)pleat_clock_monotonic_ns());
}

/* ---- waking ---- */

/* Gives the idle processor to the process `index`, whose word was `word`. */
static bool start_on(struct turn_self *self, uint32_t processor, uint32_t index, uint32_t word)
{
    struct pleat_fold_processor *line = turn_line(self, processor);
    if (!pleat_fold_grant(&self->fold->turns, index, word, processor))
        return false;
    atomic_store(&line->holder, index + 1);
    atomic_store(&line->idle, 0);
    atomic_store(&line->vain, 0);
    if (pleat_fold_word_processor(word) != processor)
        turn_move(self, index, processor);
    pleat_fold_wake(&self->fold->turns, index);
    return true;
}

/* No processor was found idle. One that has become idle meanwhile must not be forgotten; nor those
 * of other runs, of which this process does not know. */
static void note_none_idle(struct turn_self *self)
{
    if (turn_is_pooled(self))
        return;
    atomic_store(self->fold->turns.any_idle, 0);
    for (uint32_t i = 0; i < self->processors; i++)
        if (atomic_load(&turn_line(self, i)->idle))
            atomic_store(self->fold->turns.any_idle, 1);
}

void turn_alert(struct turn_self *self, uint32_t to)
{
    uint32_t word = atomic_load(&turn_slot(self, to)->word);
    if (!pleat_fold_word_waits(word))
        return;
    uint32_t at = pleat_fold_word_processor(word);
    if (at < turn_line_count(self) && (pleat_fold_word_state(word) == PLEAT_FOLD_IDLE ||
                                       atomic_load(&turn_line(self, at)->idle))) {
        (void)start_on(self, at, to, word);
        return;
    }
    if (!self->global || !atomic_load(self->fold->turns.any_idle))
        return;
    for (uint32_t i = 0; i < self->processors; i++)
        if (atomic_load(&turn_line(self, i)->idle)) {
            (void)start_on(self, i, to, word);
            return;
        }
    note_none_idle(self);
}

void turn_alert_idle(struct turn_self *self)
{
    uint32_t alerted = 0;
    if (!atomic_load(self->fold->turns.any_idle))
        return;
    for (uint32_t i = 0; i < self->processors && alerted < ALERTS_MAX; i++) {
        uint32_t at = pleat_fold_line(self->fold, i);
        const struct pleat_fold_processor *line = turn_line(self, at);
        uint32_t holder = atomic_load(&line->holder);
        if (!atomic_load(&line->idle) || holder < 1 || holder > self->fold->turns.slot_count)
            continue;
        uint32_t word = pleat_fold_word(PLEAT_FOLD_IDLE, at);
        alerted += start_on(self, at, holder - 1, word) ? 1 : 0;
    }
    if (!alerted)
        note_none_idle(self);
}

void turn_abandon(struct turn_self *self)
{
    if (self->processors && !turn_is_held(self))
        (void)(give(self, true) || give(self, false));
}

#include "fold/turn.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "fold/turn_self.h"

/* Number of polls in vain after which the processor is handed on. A message that comes through a
 * network is often found only by the second poll. */
#define POLLS 1u
#define POLLS_FAR 2u

#define ONE_MESSAGE ((UINT64_C(1) << 32) + 1) /* added to pleat_fold_slot.mail for each message */

static struct turn_self self;
static _Thread_local bool attached_here __attribute__((tls_model("initial-exec")));
static uint8_t auto_quiet = PLEAT_FOLD_WAIT_YIELD;
static uint8_t auto_contended = PLEAT_FOLD_WAIT_IMMEDIATE;

/* ---- settings in force ---- */

void turn_prefer(uint8_t quiet, uint8_t contended)
{
    auto_quiet = quiet;
    auto_contended = contended;
}

static enum pleat_fold_wait how_on(const struct turn_self *me, uint32_t processor)
{
    if (me->settings.wait != PLEAT_FOLD_WAIT_AUTO)
        return (enum pleat_fold_wait)me->settings.wait;
    /* The reasons for auto. Where others compute, a process that yields waits for them, and handing
     * on took 0.2 to 0.5 of the time (Open MPI, 8 processes on 2 processors). Where nobody else
     * computes, a switch by the kernel takes 1.3 us and one by a futex 2.3 to 4.6 us; yielding took
     * 0.65 to 0.9 of the time. With a global queue processes must be moved, which yielding does not
     * do. */
    bool quiet =
        !atomic_load_explicit(&me->fold->processors[processor].contended, memory_order_relaxed) &&
        (me->processors == 1 || me->settings.queue != PLEAT_FOLD_QUEUE_GLOBAL);
    return (enum pleat_fold_wait)(quiet ? auto_quiet : auto_contended);
}

enum pleat_fold_wait turn_how(const struct turn_self *me)
{
    return how_on(me, me->processor);
}

bool turn_hands_over(const struct turn_self *me)
{
    enum pleat_fold_wait how = turn_how(me);
    return how == PLEAT_FOLD_WAIT_IMMEDIATE || how == PLEAT_FOLD_WAIT_SPIN;
}

static bool is_global(const struct turn_self *me)
{
    return me->settings.queue == PLEAT_FOLD_QUEUE_GLOBAL;
}

bool turn_is_mine(void)
{
    return attached_here;
}

bool turn_is_alone(const struct turn_self *me)
{
    if (me->doubled ||
        atomic_load_explicit(&me->fold->processors[me->processor].contended, memory_order_relaxed))
        return false;
    return is_global(me) ? me->processors >= me->fold->processes : me->member_count == 0;
}

/* Whether nobody needs to know for whom there are messages: neither the agent, nor processes that
 * hand their processor on (if one does, all must tell). Telling of each message took 5 % of the
 * time of the 8 processes of `halo` on 1 processor. */
static bool is_untold(const struct turn_self *me)
{
    if (atomic_load_explicit(&me->fold->segment->counts, memory_order_relaxed))
        return false;
    for (uint32_t i = 0; i < me->processors; i++) {
        enum pleat_fold_wait how = how_on(me, i);
        if (how != PLEAT_FOLD_WAIT_YIELD && how != PLEAT_FOLD_WAIT_NATIVE)
            return false;
    }
    return true;
}

static void find_members(struct turn_self *me)
{
    me->member_count = 0;
    for (uint32_t i = 0; i < me->fold->processes; i++)
        if (i != me->index &&
            (is_global(me) || atomic_load(&me->fold->slots[i].queue) == me->processor))
            me->members[me->member_count++] = (uint16_t)i;
}

/* Changes the processor in the process's word, which tells others where it is. */
static void move_to(struct turn_self *me, uint32_t processor)
{
    uint32_t word = atomic_load(&me->slot->word), wanted;
    me->processor = processor;
    do /* repeated only if another process changes the word */
        wanted = pleat_fold_word((enum pleat_fold_state)pleat_fold_word_state(word), processor);
    while (!atomic_compare_exchange_weak(&me->slot->word, &word, wanted));
}

static uint32_t queue_of(const struct turn_self *me)
{
    uint32_t queue = atomic_load(&me->slot->queue);
    return queue < me->processors ? queue : 0;
}

void turn_refresh(struct turn_self *me)
{
    uint32_t generation = atomic_load(&me->fold->segment->generation);
    if (generation == me->generation)
        return;
    me->generation = generation;
    me->settings = pleat_fold_settings_of(me->fold);
    me->global = is_global(me);
    me->processors = pleat_fold_processor_count(me->fold);
    me->doubled = atomic_load(&me->fold->segment->doubled);
    if (!me->processors)
        return;
    bool was_untold = me->untold != 0;
    me->untold = is_untold(me) ? generation : 0;
    /* messages received from now on may not have been counted when they were sent */
    if (was_untold && !me->untold)
        atomic_fetch_and(&me->slot->mail, UINT32_MAX);
    if (!is_global(me) || me->processor >= me->processors)
        move_to(me, queue_of(me));
    find_members(me);
    me->yields =
        me->untold && !turn_is_alone(me) && turn_how(me) == PLEAT_FOLD_WAIT_YIELD ? generation : 0;
    turn_pin(me);
}

void turn_settle(struct turn_self *me)
{
    uint32_t at = pleat_fold_word_processor(atomic_load(&me->slot->word));
    if (at != me->processor) {
        if (is_global(me) && at < me->processors)
            me->processor = at;
        else /* the other process did not know the new partition yet */
            move_to(me, queue_of(me));
    }
    turn_stay(me);
}

static uint32_t generation_now(void)
{
    return atomic_load_explicit(&self.segment->generation, memory_order_relaxed);
}

bool turn_is_on(void)
{
    return self.segment && atomic_load_explicit(&self.segment->folded, memory_order_relaxed) != 0;
}

bool turn_is_told(void)
{
    return turn_is_on() && self.untold != generation_now();
}

bool turn_has_room(void)
{
    return self.fold &&
           atomic_load_explicit(&self.fold->segment->processors, memory_order_relaxed) &&
           !atomic_load_explicit(&self.fold->segment->folded, memory_order_relaxed);
}

/* Whether the caller is the thread that attached, and the process is folded. */
static bool takes_part(void)
{
    return attached_here && self.fold;
}

bool turn_polls_alone(void)
{
    if (!turn_has_room())
        return false;
    if (takes_part())
        turn_useful_alone(&self);
    return true;
}

bool turn_binds_threads(struct turn_cpus *all)
{
    if (!takes_part() || self.processors < 2 || self.pinned < 0)
        return false;
    memset(all, 0, sizeof(*all));
    turn_add_all(&self, all);
    return true;
}

/* ---- attaching and leaving ---- */

static bool take_slot(struct pleat_fold *fold, uint32_t index)
{
    struct pleat_fold_slot *slot = &fold->slots[index];
    int32_t owner = atomic_load(&slot->pid);
    /* The owner may be a killed process of an earlier program of the same run. */
    if (owner > 0 && (kill(owner, 0) == 0 || errno != ESRCH))
        return false;
    return atomic_compare_exchange_strong(&slot->pid, &owner, (int32_t)getpid());
}

static bool find_slot(struct pleat_fold *fold, int32_t wanted, uint32_t *index)
{
    if (wanted >= 0 && (uint32_t)wanted < fold->processes && take_slot(fold, (uint32_t)wanted)) {
        *index = (uint32_t)wanted;
        return true;
    }
    for (*index = 0; *index < fold->processes; ++*index)
        if (take_slot(fold, *index))
            return true;
    return false;
}

static void begin_slot(struct turn_self *me, int32_t rank)
{
    struct pleat_fold_slot *slot = me->slot;
    atomic_store(&slot->tid, (int32_t)syscall(SYS_gettid));
    atomic_store(&slot->rank, rank);
    atomic_store(&slot->waits_for, TURN_NOBODY);
    atomic_store(&slot->mail, 0);
    atomic_store(&slot->look_ns, UINT64_MAX);
    atomic_store(&slot->seen, 0);
    atomic_store(&slot->away, 0);
    atomic_store(&slot->switches, 0);
    atomic_store(&slot->useful_ns, 0);
    me->processor = atomic_load(&slot->queue);
    /* another generation than the present one, so that turn_refresh reads everything */
    me->generation = atomic_load(&me->fold->segment->generation) - 1;
    turn_refresh(me);
    atomic_store(&slot->word, pleat_fold_word(PLEAT_FOLD_RUNNING, me->processor));
}

bool turn_attach(int32_t index, int32_t rank)
{
    const char *path = getenv(PLEAT_FOLD_ENV);
    struct pleat_fold *fold = NULL;
    struct turn_self made = {.pid = getpid()};
    if (self.fold || !path || !*path || pleat_fold_open(path, &fold, NULL))
        return false;
    made.fold = fold;
    made.members = calloc(fold->processes, sizeof(*made.members));
    made.siblings = calloc(fold->processes, sizeof(*made.siblings));
    if (!made.members || !made.siblings || !find_slot(fold, index, &made.index)) {
        free(made.members);
        free(made.siblings);
        pleat_fold_close(fold);
        return false;
    }
    made.segment = fold->segment;
    made.slot = &fold->slots[made.index];
    begin_slot(&made, rank);
    self = made;
    attached_here = true;
    return true;
}

void turn_program(int size)
{
    if (self.fold)
        self.is_part = size <= 0 || (uint32_t)size > self.fold->processes;
}

void turn_threads(bool several)
{
    self.shared = self.fold && several;
}

bool turn_is_for_all(void)
{
    return self.shared;
}

void turn_leave(void)
{
    if (!self.fold)
        return;
    /* A forked child only forgets: the place is its parent's. */
    if (self.pid != getpid()) {
        turn_threads_forget();
    } else {
        while (self.shared && !turn_enter()) /* another thread still waits in MPI */
            turn_beside();
        atomic_store(&self.slot->word, pleat_fold_word(PLEAT_FOLD_ABSENT, self.processor));
        turn_abandon(&self);
        atomic_store(&self.slot->pid, 0);
        atomic_store(&self.slot->tid, 0);
    }
    free(self.members);
    free(self.siblings);
    pleat_fold_close(self.fold);
    bool shared = self.shared;
    memset(&self, 0, sizeof(self));
    attached_here = false;
    if (shared)
        turn_exit();
}

/* ---- what the wrappers tell ---- */

int32_t turn_place(int32_t rank)
{
    for (uint32_t i = 0; self.fold && rank >= 0 && i < self.fold->processes; i++)
        if (atomic_load(&self.fold->slots[i].pid) && atomic_load(&self.fold->slots[i].rank) == rank)
            return (int32_t)i;
    return TURN_NOBODY;
}

static void set_polls(struct turn_self *me, uint32_t polls)
{
    atomic_store_explicit(&me->polls, polls, memory_order_relaxed);
}

static void found(struct turn_self *me)
{
    if (atomic_load_explicit(&me->polls, memory_order_relaxed))
        turn_useful_found(me);
    turn_set_progressed(me, true);
    set_polls(me, 0);
}

void turn_sent(int32_t to)
{
    if (!takes_part())
        return;
    turn_set_progressed(&self, true);
    if (to < 0 || (uint32_t)to >= self.fold->processes || (uint32_t)to == self.index)
        return;
    atomic_fetch_add(&self.fold->slots[to].mail, ONE_MESSAGE);
    if (self.fold->traffic) {
        _Atomic uint32_t *count =
            &self.fold->traffic[(size_t)self.index * self.fold->processes + (uint32_t)to];
        /* only this process writes this count */
        atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    }
    turn_alert(&self, (uint32_t)to);
}

void turn_receiving(int32_t from)
{
    if (takes_part())
        atomic_store_explicit(&self.slot->waits_for, from, memory_order_relaxed);
}

void turn_received(int32_t from)
{
    if (!takes_part())
        return;
    found(&self);
    if (from != TURN_ANYBODY &&
        (from < 0 || (uint32_t)from >= self.fold->processes || (uint32_t)from == self.index))
        return;
    /* Only this process takes messages away, so there still is one. */
    if (atomic_load(&self.slot->mail) >> 32)
        atomic_fetch_sub(&self.slot->mail, UINT64_C(1) << 32);
}

void turn_activity(void)
{
    if (!takes_part() && !self.shared)
        return;
    turn_set_progressed(&self, true);
    turn_alert_idle(&self);
}

void turn_progressed(void)
{
    if (takes_part())
        found(&self);
}

/* ---- waiting ---- */

/* Whether something was sent to the process since it last looked: then it looks before it waits. */
static bool has_news(struct turn_self *me)
{
    uint32_t mail = (uint32_t)atomic_load(&me->slot->mail);
    if (mail == atomic_load_explicit(&me->slot->seen, memory_order_relaxed))
        return false;
    atomic_store(&me->slot->seen, mail);
    return true;
}

static void hand_over(struct turn_self *me, uint64_t now_ns)
{
    if (attached_here)
        turn_useful_tell(me, now_ns);
    if (me->shared)
        turn_goes();
    turn_hand_over(me, now_ns);
    if (me->shared)
        turn_comes();
    set_polls(me, 0);
}

static void block(struct turn_self *me)
{
    if (me->shared)
        turn_goes();
    turn_block(me);
    if (me->shared)
        turn_comes();
}

static void end_slice(struct turn_self *me)
{
    if (me->settings.give != PLEAT_FOLD_GIVE_SLICE || !me->processors || !turn_hands_over(me))
        return;
    uint64_t now_ns = (uint64_t)pleat_clock_monotonic_ns();
    if (now_ns - me->granted_ns < (uint64_t)me->settings.slice_us * 1000u || turn_is_alone(me))
        return;
    /* The process can go on computing, so it counts as having news. */
    atomic_fetch_add(&me->slot->mail, 1);
    hand_over(me, now_ns);
}

void turn_call(void)
{
    if (!takes_part())
        return;
    found(&self);
    if (self.shared && !turn_enter())
        return;
    end_slice(&self);
    if (self.shared)
        turn_exit();
}

static void yield(struct turn_self *me)
{
    turn_count_switch(me);
    if (attached_here)
        turn_useful_wait(me);
    syscall(SYS_sched_yield);
}

/* Whether it has polled for spin_us. */
static bool has_spun(struct turn_self *me, uint64_t now_ns)
{
    if (atomic_load_explicit(&me->polls, memory_order_relaxed) == 1)
        me->begun_ns = now_ns;
    return now_ns - me->begun_ns >= (uint64_t)me->settings.spin_us * 1000u;
}

static uint32_t count_poll(struct turn_self *me)
{
    uint32_t polls = atomic_load_explicit(&me->polls, memory_order_relaxed) + 1;
    set_polls(me, polls);
    return polls;
}

static bool wait_turn(struct turn_self *me)
{
    turn_refresh(me);
    if (!me->processors)
        return false;
    if (turn_is_alone(me)) {
        if (attached_here)
            turn_useful_alone(me);
        return true; /* polls again at once */
    }
    enum pleat_fold_wait how = turn_how(me);
    uint32_t polls = count_poll(me);
    if (how == PLEAT_FOLD_WAIT_NATIVE) {
        if (attached_here)
            turn_useful_wait(me);
        return false;
    }
    if (how == PLEAT_FOLD_WAIT_YIELD) {
        yield(me);
        return true;
    }
    if (has_news(me) || polls < (me->is_part ? POLLS_FAR : POLLS))
        return true;
    uint64_t now_ns = (uint64_t)pleat_clock_monotonic_ns();
    if (how == PLEAT_FOLD_WAIT_BLOCK)
        block(me);
    else if (how == PLEAT_FOLD_WAIT_IMMEDIATE || has_spun(me, now_ns))
        hand_over(me, now_ns);
    return true;
}

/* wait_turn for any thread: of the threads that wait at the same time one takes part. */
static bool wait_together(void)
{
    if (!turn_enter()) {
        turn_beside();
        return true;
    }
    bool handled = self.fold && wait_turn(&self);
    turn_exit();
    return handled;
}

bool turn_wait(void)
{
    if (!self.fold)
        return false;
    if (!attached_here && (!self.shared || self.yields == generation_now())) {
        syscall(SYS_sched_yield);
        return true;
    }
    if (self.yields == generation_now()) {
        (void)count_poll(&self);
        yield(&self);
        return true;
    }
    return self.shared ? wait_together() : wait_turn(&self);
}

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
    return turn_attached_here && self.fold;
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
    made.members = calloc(fold->turns.slot_count, sizeof(*made.members));
    made.siblings = calloc(fold->turns.slot_count, sizeof(*made.siblings));
    if (!made.members || !made.siblings || !find_slot(fold, index, &made.own)) {
        free(made.members);
        free(made.siblings);
        pleat_fold_close(fold);
        return false;
    }
    made.segment = fold->segment;
    made.slot = &fold->slots[made.own];
    made.index = fold->turns.first + made.own;
    begin_slot(&made, rank);
    self = made;
    turn_attached_here = true;
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
    turn_attached_here = false;
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
    if (to < 0 || (uint32_t)to >= self.fold->processes || (uint32_t)to == self.own)
        return;
    atomic_fetch_add(&self.fold->slots[to].mail, ONE_MESSAGE);
    if (self.fold->traffic) {
        _Atomic uint32_t *count =
            &self.fold->traffic[(size_t)self.own * self.fold->processes + (uint32_t)to];
        /* only this process writes this count */
        atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    }
    turn_alert(&self, self.fold->turns.first + (uint32_t)to);
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
        (from < 0 || (uint32_t)from >= self.fold->processes || (uint32_t)from == self.own))
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
    if (turn_attached_here)
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
    if (turn_attached_here)
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
        if (turn_attached_here)
            turn_useful_alone(me);
        return true; /* polls again at once */
    }
    enum pleat_fold_wait how = turn_how(me);
    uint32_t polls = count_poll(me);
    if (how == PLEAT_FOLD_WAIT_NATIVE) {
        if (turn_attached_here)
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
    if (!turn_attached_here && (!self.shared || self.yields == generation_now())) {
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

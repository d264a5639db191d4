/* Programs that cannot go on without more processors, at random, on a site divided into nodes: some
 * must stay on their node, some have processors on several. Whatever they wait for, it never
 * happens that all wait for one another. */
#include "base/random.h"
#include "core_scenarios_hand.h"

enum { WORLDS = 400, NODES = 3, JOBS = 8, STEPS = 200, ASKS = 2 };

struct circle_world {
    struct hand h;
    struct pleat_random random;
    uint32_t jobs[JOBS];
    int asks[JOBS], count;
    uint32_t piece; /* number of the next one */
};

static int below(struct circle_world *w, int bound)
{
    return (int)pleat_random_below(&w->random, (uint64_t)bound);
}

static const struct pleat_view *view_of(const struct circle_world *w)
{
    return pleat_core_view(w->h.core);
}

static int32_t free_on(const struct circle_world *w, uint32_t node)
{
    const struct pleat_node *at = pleat_view_node(view_of(w), 0, node);
    return at->slots - at->claimed;
}

static void piece(struct circle_world *w, uint32_t index, uint32_t node, int32_t count)
{
    struct pleat_event event = {.kind = PLEAT_EV_PIECE,
                                .component = index,
                                .u.piece = {.claim = pleat_core_claim(w->h.core, index)->id,
                                            .node = node,
                                            .first = 100 * w->piece++,
                                            .count = (uint32_t)count}};
    assert_int_equal(hand_feed(&w->h, event), 0);
}

/* The fullest node on which all of a job fits. */
static uint32_t node_for(const struct circle_world *w, int32_t count)
{
    uint32_t best = PLEAT_NONE;
    for (uint32_t n = 0; n < NODES; n++)
        if (free_on(w, n) >= count && (best == PLEAT_NONE || free_on(w, n) < free_on(w, best)))
            best = n;
    return best;
}

/* The site answers: on one node where the job must be on one, else wherever there are some. */
static void give(struct circle_world *w, uint32_t index)
{
    const struct pleat_claim *claim = pleat_core_claim(w->h.core, index);
    const struct pleat_component *comp = hand_component(&w->h, claim->component);
    int32_t left = claim->count;
    if (!(comp->flags & PLEAT_COMPONENT_SPREADS)) {
        uint32_t has = comp->first_claim != PLEAT_NONE
                           ? view_of(w)->claims[comp->first_claim].first_piece
                           : PLEAT_NONE;
        uint32_t node = has != PLEAT_NONE ? view_of(w)->pieces[has].node : node_for(w, left);
        if (node == PLEAT_NONE || free_on(w, node) < left) { /* the nodes are too full for it */
            struct pleat_effect effect = {.id = claim->id, .u.claim.index = index};
            (void)hand_claim_failed(&w->h, effect, PLEAT_REASON_CLAIM_REFUSED);
            return;
        }
        piece(w, index, node, left);
    }
    for (uint32_t n = 0; comp->flags & PLEAT_COMPONENT_SPREADS && n < NODES && left > 0; n++) {
        int32_t some = free_on(w, n) < left ? free_on(w, n) : left;
        if (some > 0)
            piece(w, index, n, some);
        left -= some > 0 ? some : 0;
    }
    claim = pleat_core_claim(w->h.core, index);
    struct pleat_event event = {.kind = PLEAT_EV_CLAIMED,
                                .component = index,
                                .u.claim = {.claim = claim->id, .count = claim->count}};
    assert_int_equal(hand_feed(&w->h, event), 0);
}

/* Site and applications do what they are told, until nothing is left to do. */
static void settle(struct circle_world *w)
{
    int rounds = 0;
    for (bool busy = true; busy;) {
        if (++rounds > 1000) /* one grows and is shrunk again, for nothing */
            fail_msg("it never comes to rest");
        busy = hand_release_all(&w->h) > 0;
        for (uint32_t i = 0; i < pleat_core_claim_count(w->h.core); i++) {
            if (pleat_core_claim(w->h.core, i)->state != PLEAT_CLAIM_REQUESTED)
                continue;
            give(w, i);
            busy = true;
        }
        for (int j = 0; j < w->count; j++) {
            const struct pleat_component *comp = hand_component(&w->h, w->jobs[j]);
            if (comp->state == PLEAT_CLAIMING && hand_started(&w->h, w->jobs[j]) == 0)
                busy = true;
            if (comp->state != PLEAT_RESIZING ||
                pleat_core_resize(w->h.core, comp->resize)->step != PLEAT_RESIZE_GRANTED)
                continue;
            int32_t to = comp->target;
            bool shrinks = to < comp->processors;
            assert_int_equal(hand_change(&w->h, PLEAT_EV_APPLIED, w->jobs[j], to), 0);
            if (shrinks)
                (void)hand_change(&w->h, PLEAT_EV_VACATED, w->jobs[j], to);
            busy = true;
        }
    }
}

static bool waits(const struct circle_world *w, int job)
{
    const struct pleat_ask *ask = pleat_view_ask(view_of(w), hand_component(&w->h, w->jobs[job]));
    return ask->state == PLEAT_ASK_PENDING;
}

static bool is_over(const struct circle_world *w, int job)
{
    return pleat_component_state_is_final(
        (enum pleat_component_state)hand_component(&w->h, w->jobs[job])->state);
}

static void make(struct circle_world *w, uint64_t seed)
{
    static const char *const needs[] = {"idle", "mandatory", "waiting-first", "voluntary"};
    int32_t slots[NODES], all = 0;
    pleat_random_init(&w->random, seed);
    for (int n = 0; n < NODES; n++)
        all += slots[n] = 3 + below(w, 4);
    hand_init(&w->h, all);
    hand_policy(&w->h, PLEAT_NEED, needs[below(w, 4)]);
    hand_policy(&w->h, PLEAT_MALLEABILITY, below(w, 2) ? "fpsma" : "none");
    hand_policy(&w->h, PLEAT_APPROACH, below(w, 2) ? "pwa" : "pra");
    for (uint32_t n = 0; n < NODES; n++) {
        struct pleat_event node = {
            .kind = PLEAT_EV_NODE, .component = 0, .u.node = {.node = n, .slots = slots[n]}};
        assert_int_equal(hand_feed(&w->h, node), 0);
    }
    for (; w->count < JOBS; w->count++) {
        int32_t size = 1 + below(w, 3);
        bool rigid = below(w, 4) == 0;
        w->h.flags = below(w, 3) ? 0 : PLEAT_COMPONENT_SPREADS;
        w->jobs[w->count] = rigid
                                ? hand_submit(&w->h, PLEAT_RIGID, size, size, 0)
                                : hand_submit(&w->h, PLEAT_MALLEABLE, 1 + below(w, size), 9, size);
        w->asks[w->count] = rigid ? ASKS : 0;
    }
}

/* One job asks for more, or one that does not wait ends. False: all that run wait. */
static bool step(struct circle_world *w)
{
    int first = below(w, JOBS);
    for (int i = 0; i < JOBS; i++) {
        int j = (first + i) % JOBS;
        const struct pleat_component *comp = hand_component(&w->h, w->jobs[j]);
        if (is_over(w, j) || comp->state != PLEAT_RUNNING || waits(w, j))
            continue;
        if (w->asks[j]++ < ASKS) {
            (void)hand_asks(&w->h, w->jobs[j], comp->processors + 1 + below(w, 3), true);
            return true;
        }
        assert_int_equal(hand_exited(&w->h, w->jobs[j], 0), 0);
        return true;
    }
    return false;
}

static void test_nobody_waits_for_ever(void **state)
{
    (void)state;
    int refused = 0, granted = 0;
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct circle_world w = {0};
        bool over = false;
        make(&w, seed);
        for (int s = 0; s < STEPS && !over; s++) {
            settle(&w);
            over = true;
            for (int j = 0; j < JOBS; j++)
                over = over && is_over(&w, j);
            if (over)
                break;
            bool goes_on = step(&w);
            for (int tries = 0; !goes_on && tries < 10; tries++) { /* what waits for a time */
                hand_sleep(&w.h, 61 * SECONDS);
                settle(&w);
                goes_on = step(&w);
            }
            if (!goes_on)
                fail_msg("world %d: all wait", (int)seed);
        }
        if (!over)
            fail_msg("world %d: it has no end", (int)seed);
        for (size_t i = 0; i < w.h.effects.count; i++) {
            const struct pleat_effect *effect = &w.h.effects.items[i];
            refused += effect->kind == PLEAT_DO_ANSWER &&
                       effect->u.asked.state == PLEAT_ASK_REFUSED &&
                       effect->u.asked.reason == PLEAT_ASK_BUSY;
            granted +=
                effect->kind == PLEAT_DO_ANSWER && effect->u.asked.state == PLEAT_ASK_GRANTED;
        }
        hand_finish(&w.h);
    }
    print_message("%d granted, %d refused as all waited\n", granted, refused);
    assert_true(granted > 100 && refused > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nobody_waits_for_ever)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

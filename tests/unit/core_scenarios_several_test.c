/* Jobs of several components: a scenario for every row of docs/resize-contract.md about them. */
#include <string.h>

#include "core_scenarios_hand.h"

static void is(const struct hand *h, uint32_t component, enum pleat_component_state state)
{
    if (hand_component(h, component)->state != state)
        fail_msg("component %u is %s, expected %s", component,
                 pleat_component_state_name(
                     (enum pleat_component_state)hand_component(h, component)->state),
                 pleat_component_state_name(state));
}

static const struct pleat_site *site_of(const struct hand *h, uint32_t site)
{
    return &pleat_core_view(h->core)->sites[site];
}

/* As many sites as there are capacities above 0. */
static void sites(struct hand *h, int32_t first, int32_t second, int32_t third)
{
    hand_init(h, first);
    const int32_t others[] = {second, third};
    for (uint32_t i = 0; i < 2 && others[i] > 0; i++) {
        struct pleat_event site = {
            .kind = PLEAT_EV_SITE, .component = i + 1, .u.site = {.capacity = others[i]}};
        assert_int_equal(hand_feed(h, site), 0);
    }
}

static int submit(struct hand *h, uint64_t component, uint16_t ordinal, int32_t size, uint32_t site,
                  uint16_t flags)
{
    struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                .flags = (uint16_t)(h->flags | flags),
                                .component = pleat_core_next_component(h->core),
                                .u.submit = {.job = component,
                                             .ordinal = ordinal,
                                             .minimum = size,
                                             .maximum = size,
                                             .estimate_us = 100 * SECONDS,
                                             .site = site,
                                             .job_kind = PLEAT_RIGID}};
    return hand_feed(h, event);
}

/* A job of two components of that size, at those sites; its lead, before the other. */
static uint32_t two(struct hand *h, uint64_t component, int32_t size, uint32_t first,
                    uint32_t second)
{
    uint32_t lead = pleat_core_next_component(h->core);
    assert_int_equal(submit(h, component, 0, size, first, PLEAT_COMPONENT_FOLLOWS), 0);
    assert_int_equal(submit(h, component, 1, size, second, 0), 0);
    return lead;
}

/* The latest claim of a component. */
static struct pleat_effect claim_of(const struct hand *h, uint32_t component)
{
    for (size_t i = h->effects.count; i > 0; i--)
        if (h->effects.items[i - 1].kind == PLEAT_DO_CLAIM &&
            h->effects.items[i - 1].component == component)
            return h->effects.items[i - 1];
    fail_msg("component %u has claimed nothing", component);
    return (struct pleat_effect){0};
}

static void gets(struct hand *h, uint32_t component)
{
    struct pleat_effect claim = claim_of(h, component);
    assert_int_equal(hand_claimed(h, claim, claim.u.claim.count), 0);
}

/* Two components that run, at sites 0 and 1. */
static uint32_t two_run(struct hand *h, int32_t size)
{
    uint32_t lead = two(h, 100, size, 0, 1);
    gets(h, lead);
    gets(h, lead + 1);
    assert_int_equal(hand_started(h, lead), 0);
    assert_int_equal(hand_started(h, lead + 1), 0);
    is(h, lead, PLEAT_RUNNING);
    is(h, lead + 1, PLEAT_RUNNING);
    hand_mark(h);
    return lead;
}

static void nothing_is_held(struct hand *h)
{
    hand_release_all(h);
    for (uint32_t s = 0; s < pleat_core_view(h->core)->site_count; s++)
        assert_int_equal(site_of(h, s)->claimed, 0);
}

/* ---- submission ---- */

static void test_nothing_is_placed_before_the_last_component(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 8, 0);
    assert_int_equal(submit(&h, 100, 0, 4, PLEAT_NONE, PLEAT_COMPONENT_FOLLOWS), 0);
    assert_int_equal(submit(&h, 100, 1, 4, PLEAT_NONE, PLEAT_COMPONENT_FOLLOWS), 0);
    is(&h, 0, PLEAT_QUEUED);
    assert_int_equal(pleat_core_view(h.core)->queue_count, 0);
    /* nobody comes between */
    assert_int_equal(submit(&h, 101, 0, 1, PLEAT_NONE, 0), PLEAT_E_STATE);
    assert_int_equal(submit(&h, 100, 1, 4, PLEAT_NONE, 0), PLEAT_E_STATE);
    assert_int_equal(submit(&h, 100, 2, 4, PLEAT_NONE, 0), 0);
    for (uint32_t c = 0; c < 3; c++)
        is(&h, c, PLEAT_CLAIMING);
    hand_finish(&h);
}

static void test_an_unfinished_submission_is_cancelled(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 8, 0);
    assert_int_equal(submit(&h, 100, 0, 4, PLEAT_NONE, PLEAT_COMPONENT_FOLLOWS), 0);
    assert_int_equal(submit(&h, 100, 1, 4, PLEAT_NONE, PLEAT_COMPONENT_FOLLOWS), 0);
    assert_int_equal(hand_cancel(&h, 0), 0);
    is(&h, 0, PLEAT_CANCELLED);
    is(&h, 1, PLEAT_CANCELLED);
    assert_int_equal(submit(&h, 101, 0, 4, PLEAT_NONE, 0), 0);
    is(&h, 2, PLEAT_CLAIMING);
    hand_finish(&h);
}

static void test_a_job_that_never_fits_is_refused(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 4, 0);
    assert_int_equal(submit(&h, 100, 0, 7, PLEAT_NONE, PLEAT_COMPONENT_FOLLOWS), 0);
    assert_int_equal(submit(&h, 100, 1, 6, PLEAT_NONE, 0), PLEAT_E_TOOBIG);
    assert_int_equal(hand_cancel(&h, 0), 0);
    is(&h, 0, PLEAT_CANCELLED);
    hand_finish(&h);
}

/* ---- placing ---- */

static void test_all_components_are_placed_or_none(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 4, 0);
    uint32_t other = hand_submit(&h, PLEAT_RIGID, 5, 5, 0);
    gets(&h, other);
    assert_int_equal(hand_started(&h, other), 0);
    hand_mark(&h);
    uint32_t lead = two(&h, 100, 4, PLEAT_NONE, PLEAT_NONE); /* 3 and 4 are free */
    is(&h, lead, PLEAT_QUEUED);
    is(&h, lead + 1, PLEAT_QUEUED);
    assert_int_equal(pleat_core_view(h.core)->queue_count, 1); /* one stands for both */
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 0);
    assert_int_equal(hand_exited(&h, other, 0), 0);
    hand_release_all(&h);
    is(&h, lead, PLEAT_CLAIMING);
    is(&h, lead + 1, PLEAT_CLAIMING);
    assert_int_equal(hand_component(&h, lead)->site, 0); /* worst-fit: 8, then 4 and 4 */
    hand_finish(&h);
}

static void test_the_largest_component_is_placed_first(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 6, 0);
    assert_int_equal(submit(&h, 100, 0, 4, PLEAT_NONE, PLEAT_COMPONENT_FOLLOWS), 0);
    assert_int_equal(submit(&h, 100, 1, 7, PLEAT_NONE, 0), 0);
    /* the other way round the small one would take the place of the large one */
    assert_int_equal(hand_component(&h, 1)->site, 0);
    assert_int_equal(hand_component(&h, 0)->site, 1);
    hand_finish(&h);
}

/* Nobody overtakes one of several components where queue policies promise others a start. */
static void test_nobody_overtakes_a_job_of_several(void **state)
{
    (void)state;
    static const char *const queues[] = {"easy", "conservative"};
    for (size_t q = 0; q < 2; q++) {
        struct hand h;
        sites(&h, 8, 8, 0);
        hand_policy(&h, PLEAT_QUEUE, queues[q]);
        uint32_t other = hand_submit(&h, PLEAT_RIGID, 6, 6, 0);
        gets(&h, other);
        assert_int_equal(hand_started(&h, other), 0);
        uint32_t lead = two(&h, 100, 5, 0, 1);
        uint32_t behind = hand_submit(&h, PLEAT_RIGID, 1, 1, 0);
        is(&h, lead, PLEAT_QUEUED);
        is(&h, behind, PLEAT_QUEUED);
        assert_int_equal(hand_component(&h, behind)->promised_us, PLEAT_NEVER);
        assert_int_equal(hand_exited(&h, other, 0), 0);
        hand_release_all(&h);
        is(&h, lead, PLEAT_CLAIMING);
        is(&h, behind, PLEAT_CLAIMING);
        hand_finish(&h);
    }
}

/* ---- the barrier ---- */

static void test_components_start_together(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 8, 0);
    uint32_t lead = two(&h, 100, 4, 0, 1);
    gets(&h, lead + 1);
    hand_sleep(&h, 10 * SECONDS);
    assert_int_equal(hand_count(&h, PLEAT_DO_START), 0);
    gets(&h, lead);
    assert_int_equal(hand_count(&h, PLEAT_DO_START), 2);
    /* 4 processors waited for 10 s */
    assert_int_equal(pleat_core_view(h.core)->wasted_us, 40 * SECONDS);
    hand_finish(&h);
}

/* Two jobs that each have one half of what they need, by hand: neither waits for ever. */
static void test_the_barrier_is_not_for_ever(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 4, 4, 0);
    hand_parameter(&h, PLEAT_PARAM_BARRIER_US, 20 * SECONDS);
    hand_parameter(&h, PLEAT_PARAM_CLAIM_US, 1000 * SECONDS);
    uint32_t lead = two(&h, 100, 4, 0, 1);
    uint32_t behind = hand_submit(&h, PLEAT_RIGID, 1, 1, 0);
    gets(&h, lead);
    hand_mark(&h);
    hand_sleep(&h, 20 * SECONDS);
    /* what is held and what is claimed is given back; the job stands in front of the queue */
    assert_int_equal(hand_count(&h, PLEAT_DO_RELEASE), 2);
    is(&h, lead, PLEAT_QUEUED);
    is(&h, lead + 1, PLEAT_QUEUED);
    assert_int_equal(pleat_core_view(h.core)->queue_first, lead);
    is(&h, behind, PLEAT_QUEUED);
    hand_release_all(&h); /* one site, then the other: only then there is room for both */
    is(&h, lead, PLEAT_CLAIMING);
    is(&h, lead + 1, PLEAT_CLAIMING);
    hand_finish(&h);
}

static void test_a_job_is_not_put_back_for_ever(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 4, 4, 0);
    hand_parameter(&h, PLEAT_PARAM_BARRIER_US, 20 * SECONDS);
    hand_parameter(&h, PLEAT_PARAM_CLAIM_US, 1000 * SECONDS);
    hand_parameter(&h, PLEAT_PARAM_MAX_TRIES, 4);
    uint32_t lead = two(&h, 100, 4, 0, 1);
    for (int i = 0; i < 4 && hand_component(&h, lead)->state != PLEAT_FAILED; i++) {
        is(&h, lead, PLEAT_CLAIMING);
        gets(&h, lead);
        hand_sleep(&h, 20 * SECONDS);
        hand_release_all(&h);
    }
    is(&h, lead, PLEAT_FAILED);
    is(&h, lead + 1, PLEAT_FAILED);
    nothing_is_held(&h);
    hand_finish(&h);
}

static void test_a_component_whose_claim_fails_is_placed_anew(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 6, 8, 7);
    assert_int_equal(submit(&h, 100, 0, 4, 0, PLEAT_COMPONENT_FOLLOWS), 0);
    assert_int_equal(submit(&h, 100, 1, 5, PLEAT_NONE, 0), 0);
    assert_int_equal(hand_component(&h, 1)->site, 1);
    gets(&h, 0);
    hand_mark(&h);
    assert_int_equal(hand_claim_failed(&h, claim_of(&h, 1), PLEAT_REASON_CLAIM_REFUSED), 0);
    /* it alone: the other one keeps what it has */
    is(&h, 1, PLEAT_CLAIMING);
    assert_int_equal(hand_component(&h, 1)->site, 2);
    assert_int_equal(hand_count(&h, PLEAT_DO_RELEASE), 0);
    gets(&h, 1);
    assert_int_equal(hand_count(&h, PLEAT_DO_START), 2);
    hand_finish(&h);
}

static void test_a_claim_that_can_never_be_ends_the_job(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 8, 0);
    uint32_t lead = two(&h, 100, 4, 0, 1);
    gets(&h, lead);
    assert_int_equal(hand_claim_failed(&h, claim_of(&h, lead + 1), PLEAT_REASON_CLAIM_CANNOT), 0);
    nothing_is_held(&h);
    is(&h, lead, PLEAT_FAILED);
    is(&h, lead + 1, PLEAT_FAILED);
    assert_int_equal(hand_component(&h, lead)->reason, PLEAT_REASON_SIBLING);
    assert_int_equal(hand_component(&h, lead + 1)->reason, PLEAT_REASON_CLAIM_CANNOT);
    hand_finish(&h);
}

/* ---- its end ---- */

static void test_a_job_is_done_when_all_components_are(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 8, 0);
    uint32_t lead = two_run(&h, 4);
    assert_int_equal(hand_exited(&h, lead, 0), 0);
    hand_release_all(&h);
    assert_int_equal(site_of(&h, 0)->claimed, 0); /* it gives back what it had at once */
    is(&h, lead, PLEAT_FINISHING);
    is(&h, lead + 1, PLEAT_RUNNING);
    assert_int_equal(hand_exited(&h, lead + 1, 0), 0);
    hand_release_all(&h);
    is(&h, lead, PLEAT_DONE);
    is(&h, lead + 1, PLEAT_DONE);
    hand_finish(&h);
}

static void test_a_component_that_fails_by_its_user_fails_the_job(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 8, 0);
    uint32_t lead = two_run(&h, 4);
    assert_int_equal(hand_exited(&h, lead, 3), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 1);
    assert_int_equal(hand_exited(&h, lead + 1, 0), 0);
    nothing_is_held(&h);
    is(&h, lead, PLEAT_FAILED);
    is(&h, lead + 1, PLEAT_FAILED);
    assert_int_equal(hand_component(&h, lead)->reason, PLEAT_REASON_EXIT);
    assert_int_equal(hand_component(&h, lead + 1)->reason, PLEAT_REASON_SIBLING);
    hand_finish(&h);
}

static void test_a_component_that_fails_otherwise_sends_all_back(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 8, 0);
    uint32_t lead = two_run(&h, 4);
    uint32_t behind = pleat_core_next_component(h.core);
    assert_int_equal(submit(&h, 101, 0, 8, 1, 0), 0);
    is(&h, behind, PLEAT_QUEUED);
    assert_int_equal(hand_lost(&h, claim_of(&h, lead)), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 2);
    assert_int_equal(hand_exited(&h, lead, 0), 0);
    hand_release_all(&h);
    is(&h, lead, PLEAT_FINISHING); /* it does not wait before the other has ended, too */
    assert_int_equal(hand_exited(&h, lead + 1, 0), 0);
    hand_release_all(&h);
    is(&h, lead, PLEAT_CLAIMING); /* in front of the queue */
    is(&h, lead + 1, PLEAT_CLAIMING);
    is(&h, behind, PLEAT_QUEUED);
    assert_int_equal(hand_component(&h, lead)->attempt, 1);
    hand_finish(&h);
}

static void test_attempts_of_a_job_are_counted_once(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 8, 0);
    uint32_t lead = two(&h, 100, 4, 0, 1);
    for (int64_t i = pleat_parameter_default(PLEAT_PARAM_ATTEMPTS); i > 0; i--) {
        is(&h, lead, PLEAT_CLAIMING);
        gets(&h, lead);
        gets(&h, lead + 1);
        for (uint32_t c = lead; c <= lead + 1; c++) /* both fail: that is one failure */
            (void)hand_ended(&h, PLEAT_EV_START_FAILED, c, PLEAT_REASON_START_SYSTEM);
        hand_release_all(&h);
    }
    is(&h, lead, PLEAT_FAILED);
    is(&h, lead + 1, PLEAT_FAILED);
    hand_finish(&h);
}

static void test_cancelling_ends_all_components(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 8, 0);
    uint32_t running = two_run(&h, 8);
    uint32_t waiting = two(&h, 101, 4, 0, 1);
    assert_int_equal(hand_cancel(&h, waiting + 1), 0);
    is(&h, waiting, PLEAT_CANCELLED);
    is(&h, waiting + 1, PLEAT_CANCELLED);
    assert_int_equal(hand_exited(&h, running, 0), 0);
    assert_int_equal(hand_cancel(&h, running), 0); /* one of them had ended */
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 1);
    assert_int_equal(hand_exited(&h, running + 1, 0), 0);
    nothing_is_held(&h);
    is(&h, running, PLEAT_DONE);
    is(&h, running + 1, PLEAT_CANCELLED);
    uint32_t claiming = two(&h, 102, 4, 0, 1);
    gets(&h, claiming);
    assert_int_equal(hand_cancel(&h, claiming), 0);
    nothing_is_held(&h);
    is(&h, claiming, PLEAT_CANCELLED);
    is(&h, claiming + 1, PLEAT_CANCELLED);
    hand_finish(&h);
}

static void test_a_job_is_forgotten_as_a_whole(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 8, 0);
    uint32_t lead = two_run(&h, 4);
    assert_int_equal(hand_exited(&h, lead, 0), 0);
    assert_int_equal(hand_exited(&h, lead + 1, 0), 0);
    hand_release_all(&h);
    struct pleat_event forget = {.kind = PLEAT_EV_FORGET, .component = lead + 1};
    assert_int_equal(hand_feed(&h, forget), 0);
    assert_int_equal(hand_feed(&h, forget), PLEAT_E_STATE);
    forget.component = lead;
    assert_int_equal(hand_feed(&h, forget), PLEAT_E_STATE);
    hand_finish(&h);
}

/* ---- what its user wants ---- */

static void test_terms_are_those_of_all_components(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 8, 0);
    uint32_t lead = two_run(&h, 4);
    assert_int_equal(hand_terms(&h, lead + 1, -1, -1, 50 * SECONDS), 0);
    assert_int_equal(hand_component(&h, lead)->limit_us, 50 * SECONDS);
    hand_sleep(&h, 50 * SECONDS);
    assert_int_equal(hand_count(&h, PLEAT_DO_KILL), 2);
    hand_finish(&h);
}

static struct pleat_event reserve(const struct hand *h, uint32_t component, int64_t seconds)
{
    return (struct pleat_event){.kind = PLEAT_EV_RESERVE,
                                .component = component,
                                .u.at.at_us = h->now_us + seconds * SECONDS};
}

static uint32_t alone(struct hand *h, uint64_t job, int32_t size)
{
    uint32_t component = pleat_core_next_component(h->core);
    assert_int_equal(submit(h, job, 0, size, PLEAT_NONE, 0), 0);
    return component;
}

/* A site whose nodes are all too small for a job that must be on one would keep it waiting for
 * ever. */
static void test_a_reservation_is_where_a_node_is_large_enough(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 8, 0);
    for (uint32_t n = 0; n < 2; n++) {
        struct pleat_event node = {
            .kind = PLEAT_EV_NODE, .component = 0, .u.node = {.node = n, .slots = 4}};
        assert_int_equal(hand_feed(&h, node), 0);
    }
    uint32_t other = two_run(&h, 4), large = alone(&h, 101, 5);
    assert_int_equal(hand_feed(&h, reserve(&h, large, 200)), 0);
    assert_int_equal(hand_component(&h, large)->wanted_site, 1);
    assert_int_equal(hand_cancel(&h, large), 0);
    assert_int_equal(hand_exited(&h, other, 0), 0);
    assert_int_equal(hand_exited(&h, other + 1, 0), 0);
    hand_release_all(&h);
    hand_finish(&h);
}

static void test_a_reservation_is_for_all_components(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 8, 8, 0);
    uint32_t other = two_run(&h, 8);
    uint32_t lead = two(&h, 101, 5, PLEAT_NONE, PLEAT_NONE);
    assert_int_equal(hand_feed(&h, reserve(&h, lead, 200)), 0);
    assert_int_equal(pleat_core_view(h.core)->queue_count, 0);
    assert_int_not_equal(hand_component(&h, lead)->wanted_site,
                         hand_component(&h, lead + 1)->wanted_site);
    /* there is no room for a third of the same size then, and nothing has changed */
    uint32_t third = two(&h, 102, 5, PLEAT_NONE, PLEAT_NONE);
    assert_int_equal(hand_feed(&h, reserve(&h, third, 250)), PLEAT_E_BUSY);
    assert_int_equal(pleat_core_view(h.core)->queue_count, 1);
    assert_int_equal(hand_component(&h, third)->wanted_site, PLEAT_NONE);
    assert_int_equal(hand_cancel(&h, third), 0);
    assert_int_equal(hand_exited(&h, other, 0), 0);
    assert_int_equal(hand_exited(&h, other + 1, 0), 0);
    hand_release_all(&h);
    is(&h, lead, PLEAT_QUEUED);
    hand_sleep(&h, 200 * SECONDS);
    is(&h, lead, PLEAT_CLAIMING);
    is(&h, lead + 1, PLEAT_CLAIMING);
    hand_finish(&h);
}

/* ---- flexible jobs ---- */

static void test_a_flexible_job_is_split(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 4, 6, 3);
    hand_policy(&h, PLEAT_PLACEMENT, "flexible-cluster-minimization");
    assert_int_equal(
        submit(&h, 100, 0, 8, PLEAT_NONE, PLEAT_COMPONENT_FOLLOWS | PLEAT_COMPONENT_FLEXIBLE), 0);
    assert_int_equal(submit(&h, 100, 1, 0, PLEAT_NONE, PLEAT_COMPONENT_FOLLOWS), 0);
    assert_int_equal(submit(&h, 100, 2, 0, PLEAT_NONE, 0), 0);
    /* 6 of site 1, 2 of the smallest that has them; the third component is not needed */
    assert_int_equal(hand_component(&h, 0)->target, 6);
    assert_int_equal(hand_component(&h, 0)->site, 1);
    assert_int_equal(hand_component(&h, 1)->target, 2);
    assert_int_equal(hand_component(&h, 1)->site, 2);
    is(&h, 2, PLEAT_QUEUED);
    assert_int_equal(pleat_core_view(h.core)->queue_count, 0);
    gets(&h, 0);
    gets(&h, 1);
    assert_int_equal(hand_count(&h, PLEAT_DO_START), 2);
    for (uint32_t c = 0; c < 2; c++) {
        assert_int_equal(hand_started(&h, c), 0);
        assert_int_equal(hand_exited(&h, c, 0), 0);
    }
    hand_release_all(&h);
    for (uint32_t c = 0; c < 3; c++)
        is(&h, c, PLEAT_DONE);
    assert_int_equal(hand_component(&h, 2)->run, 0); /* it never ran */
    hand_finish(&h);
}

static void test_a_flexible_job_is_split_anew(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 4, 6, 3);
    hand_policy(&h, PLEAT_PLACEMENT, "flexible-cluster-minimization");
    assert_int_equal(
        submit(&h, 100, 0, 8, PLEAT_NONE, PLEAT_COMPONENT_FOLLOWS | PLEAT_COMPONENT_FLEXIBLE), 0);
    assert_int_equal(submit(&h, 100, 1, 0, PLEAT_NONE, PLEAT_COMPONENT_FOLLOWS), 0);
    assert_int_equal(submit(&h, 100, 2, 0, PLEAT_NONE, 0), 0);
    gets(&h, 1);
    assert_int_equal(hand_claim_failed(&h, claim_of(&h, 0), PLEAT_REASON_CLAIM_REFUSED), 0);
    /* the 6 that are missing: 4 of site 0 and 1 of site 2 are not enough while site 1 is quiet */
    is(&h, 0, PLEAT_QUEUED);
    assert_int_equal(hand_component(&h, 0)->minimum, 6);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_BACKOFF_US));
    is(&h, 0, PLEAT_CLAIMING);
    assert_int_equal(hand_component(&h, 0)->target, 6);
    hand_finish(&h);
}

static void test_what_cannot_be_flexible(void **state)
{
    (void)state;
    struct hand h;
    sites(&h, 4, 6, 0);
    uint16_t flags = PLEAT_COMPONENT_FOLLOWS | PLEAT_COMPONENT_FLEXIBLE;
    assert_int_equal(submit(&h, 100, 0, 8, 1, flags), PLEAT_E_INVALID);
    assert_int_equal(submit(&h, 100, 0, 8, PLEAT_NONE, flags), 0);
    assert_int_equal(submit(&h, 100, 1, 2, PLEAT_NONE, 0), PLEAT_E_INVALID);
    assert_int_equal(submit(&h, 100, 1, 0, PLEAT_NONE, 0), 0);
    /* no policy that splits: it waits for 8 processors of one site, which there never are */
    is(&h, 0, PLEAT_QUEUED);
    assert_int_equal(hand_feed(&h, reserve(&h, 0, 10)), PLEAT_E_UNSUPPORTED);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_placed_before_the_last_component),
        cmocka_unit_test(test_an_unfinished_submission_is_cancelled),
        cmocka_unit_test(test_a_job_that_never_fits_is_refused),
        cmocka_unit_test(test_all_components_are_placed_or_none),
        cmocka_unit_test(test_the_largest_component_is_placed_first),
        cmocka_unit_test(test_nobody_overtakes_a_job_of_several),
        cmocka_unit_test(test_components_start_together),
        cmocka_unit_test(test_the_barrier_is_not_for_ever),
        cmocka_unit_test(test_a_job_is_not_put_back_for_ever),
        cmocka_unit_test(test_a_component_whose_claim_fails_is_placed_anew),
        cmocka_unit_test(test_a_claim_that_can_never_be_ends_the_job),
        cmocka_unit_test(test_a_job_is_done_when_all_components_are),
        cmocka_unit_test(test_a_component_that_fails_by_its_user_fails_the_job),
        cmocka_unit_test(test_a_component_that_fails_otherwise_sends_all_back),
        cmocka_unit_test(test_attempts_of_a_job_are_counted_once),
        cmocka_unit_test(test_cancelling_ends_all_components),
        cmocka_unit_test(test_a_job_is_forgotten_as_a_whole),
        cmocka_unit_test(test_terms_are_those_of_all_components),
        cmocka_unit_test(test_a_reservation_is_for_all_components),
        cmocka_unit_test(test_a_reservation_is_where_a_node_is_large_enough),
        cmocka_unit_test(test_a_flexible_job_is_split),
        cmocka_unit_test(test_a_flexible_job_is_split_anew),
        cmocka_unit_test(test_what_cannot_be_flexible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Files that are brought, errors of sites, processors that an application gives back by itself: a
 * scenario for every row of docs/resize-contract.md about them. */
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

/* Two sites of 8, from which files get to the other one with 1 MB/s. */
static void two_sites(struct hand *h)
{
    hand_init(h, 8);
    struct pleat_event site = {.kind = PLEAT_EV_SITE, .component = 1, .u.site = {.capacity = 8}};
    assert_int_equal(hand_feed(h, site), 0);
    for (uint32_t from = 0; from < 2; from++) {
        struct pleat_event link = {
            .kind = PLEAT_EV_LINK,
            .component = PLEAT_NONE,
            .u.link = {.bytes_per_s = 1000000, .from = from, .to = 1 - from}};
        assert_int_equal(hand_feed(h, link), 0);
    }
}

static int add_file(struct hand *h, uint32_t component, uint32_t file, int64_t bytes, uint32_t site)
{
    struct pleat_event input = {.kind = PLEAT_EV_INPUT,
                                .component = component,
                                .u.input = {.bytes = bytes, .file = file, .site = site}};
    return hand_feed(h, input);
}

static int submit(struct hand *h, uint64_t component, uint16_t ordinal, int32_t size, uint32_t site,
                  bool follows)
{
    struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                .flags = (uint16_t)(follows ? PLEAT_COMPONENT_FOLLOWS : 0),
                                .component = pleat_core_next_component(h->core),
                                .u.submit = {.job = component,
                                             .ordinal = ordinal,
                                             .minimum = size,
                                             .maximum = size,
                                             .site = site,
                                             .job_kind = PLEAT_RIGID}};
    return hand_feed(h, event);
}

/* A job of 4 on site 1 of which a file takes this long to be brought, submitted as a daemon does
 * it: nobody decides before the file is known. Nothing else may wait then. */
static uint32_t with_file(struct hand *h, uint64_t number, uint32_t site, int64_t seconds)
{
    struct pleat_event input = {.kind = PLEAT_EV_INPUT,
                                .time_us = h->now_us,
                                .component = pleat_core_next_component(h->core),
                                .u.input = {.bytes = seconds * 1000000, .file = 1, .site = 0}};
    struct pleat_event event = {
        .kind = PLEAT_EV_SUBMIT,
        .time_us = h->now_us,
        .component = input.component,
        .u.submit = {
            .job = number, .minimum = 4, .maximum = 4, .site = site, .job_kind = PLEAT_RIGID}};
    assert_int_equal(pleat_core_apply(h->core, &event, &h->effects, &h->err), 0);
    assert_int_equal(hand_feed(h, input), 0);
    return input.component;
}

static int staged(struct hand *h, uint32_t component)
{
    struct pleat_event event = {.kind = PLEAT_EV_STAGED,
                                .component = component,
                                .u.staged.number = hand_component(h, component)->staging_number};
    return hand_feed(h, event);
}

static struct pleat_effect claim_of(const struct hand *h, uint32_t component)
{
    for (size_t i = h->effects.count; i > 0; i--)
        if (h->effects.items[i - 1].kind == PLEAT_DO_CLAIM &&
            h->effects.items[i - 1].component == component)
            return h->effects.items[i - 1];
    fail_msg("component %u has claimed nothing", component);
    return (struct pleat_effect){0};
}

/* ---- files ---- */

static void test_files_are_brought_before_processors_are_claimed(void **state)
{
    (void)state;
    struct hand h;
    two_sites(&h);
    uint32_t component = with_file(&h, 1, 1, 100);
    is(&h, component, PLEAT_STAGING_IN);
    struct pleat_effect stage = hand_last(&h, PLEAT_DO_STAGE);
    assert_int_equal(stage.u.stage.site, 1);
    assert_int_equal((stage.u.stage.expected_us - h.now_us) / SECONDS, 100);
    /* meanwhile its processors are anybody's */
    uint32_t other = hand_submit(&h, PLEAT_RIGID, 8, 8, 0);
    is(&h, other, PLEAT_CLAIMING);
    hand_sleep(&h, 50 * SECONDS);
    assert_int_equal(staged(&h, component), 0); /* sooner than expected: claimed at once */
    is(&h, component, PLEAT_CLAIMING);
    assert_int_equal(hand_claimed(&h, claim_of(&h, component), 4), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_START), 1);
    hand_finish(&h);
}

static void test_files_that_are_there_are_not_brought(void **state)
{
    (void)state;
    struct hand h;
    two_sites(&h);
    uint32_t component = with_file(&h, 1, 0, 100);
    is(&h, component, PLEAT_CLAIMING);
    assert_int_equal(hand_count(&h, PLEAT_DO_STAGE), 0);
    hand_finish(&h);
}

/* The first of two files is at both sites, the second is brought. */
static void test_files_come_from_where_that_is_fastest(void **state)
{
    (void)state;
    struct hand h;
    two_sites(&h);
    assert_int_equal(submit(&h, 1, 0, 4, 1, true), 0);
    assert_int_equal(add_file(&h, 0, 7, 900000000, 0), 0);
    assert_int_equal(add_file(&h, 0, 7, 900000000, 1), 0);
    assert_int_equal(add_file(&h, 0, 8, 30000000, 0), 0);
    assert_int_equal(add_file(&h, 0, 9, 10000000, 0), 0);
    const struct pleat_view *view = pleat_core_view(h.core);
    assert_int_equal(pleat_view_transfer(view, hand_component(&h, 0), 0), 0);
    assert_int_equal(pleat_view_transfer(view, hand_component(&h, 0), 1) / SECONDS, 40);
    struct pleat_event link = {
        .kind = PLEAT_EV_LINK, .component = PLEAT_NONE, .u.link = {.from = 0, .to = 1}};
    assert_int_equal(hand_feed(&h, link), 0); /* there is no way any more */
    assert_int_equal(pleat_view_transfer(view, hand_component(&h, 0), 1), PLEAT_NEVER);
    assert_int_equal(submit(&h, 1, 1, 1, 1, false), 0);
    is(&h, 0, PLEAT_QUEUED);
    link.u.link.bytes_per_s = 1;
    assert_int_equal(hand_feed(&h, link), 0);
    is(&h, 0, PLEAT_STAGING_IN);
    assert_int_equal(add_file(&h, 0, 10, 1, 0), PLEAT_E_STATE);
    hand_finish(&h);
}

/* Somebody else has the processors when the file should be there. */
static void test_a_claim_that_fails_is_made_earlier_the_next_time(void **state)
{
    (void)state;
    struct hand h;
    two_sites(&h);
    hand_parameter(&h, PLEAT_PARAM_CLAIM_EARLIER_US, 40 * SECONDS);
    uint32_t component = with_file(&h, 1, 1, 100);
    assert_int_equal(submit(&h, 2, 0, 8, 1, false), 0);
    uint32_t other = component + 1;
    assert_int_equal(hand_claimed(&h, claim_of(&h, other), 8), 0);
    assert_int_equal(hand_started(&h, other), 0);
    hand_sleep(&h, 101 * SECONDS);
    is(&h, component, PLEAT_QUEUED); /* in front of the queue */
    assert_int_equal(hand_component(&h, component)->retries, 1);
    assert_int_equal(hand_exited(&h, other, 0), 0);
    hand_release_all(&h);
    /* the file is still on its way to the same site: nothing is brought twice. It is late */
    assert_int_equal(hand_count(&h, PLEAT_DO_STAGE), 1);
    is(&h, component, PLEAT_CLAIMING);
    assert_int_equal(hand_claimed(&h, claim_of(&h, component), 4), 0);
    hand_sleep(&h, 10 * SECONDS);
    assert_int_equal(hand_component(&h, component)->starting,
                     0); /* has processors, waits for its file */
    assert_int_equal(staged(&h, component), 0);
    assert_int_equal(hand_component(&h, component)->starting, 1);
    assert_int_equal(pleat_core_view(h.core)->wasted_us, 40 * SECONDS);
    hand_finish(&h);
}

/* 100 s, less 60 s for each claim that failed: the third one is at once. */
static void test_claims_are_made_at_once_in_the_end(void **state)
{
    (void)state;
    struct hand h;
    two_sites(&h);
    struct pleat_event site = {.kind = PLEAT_EV_SITE, .component = 2, .u.site = {.capacity = 7}};
    struct pleat_event link = {.kind = PLEAT_EV_LINK,
                               .component = PLEAT_NONE,
                               .u.link = {.bytes_per_s = 1000000, .from = 0, .to = 2}};
    assert_int_equal(hand_feed(&h, site), 0);
    assert_int_equal(hand_feed(&h, link), 0);
    hand_parameter(&h, PLEAT_PARAM_CLAIM_EARLIER_US, 60 * SECONDS);
    hand_parameter(&h, PLEAT_PARAM_BACKOFF_US, 10 * SECONDS);
    assert_int_equal(submit(&h, 9, 0, 8, 0, false), 0); /* where the file is there is no room */
    assert_int_equal(hand_claimed(&h, claim_of(&h, 0), 8), 0);
    assert_int_equal(hand_started(&h, 0), 0);
    uint32_t component = with_file(&h, 1, PLEAT_NONE, 100);
    const uint32_t places[] = {1, 2, 1};
    const int64_t waits[] = {100, 40, 0};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hand_component(&h, component)->site, places[i]);
        if (waits[i] > 0) {
            is(&h, component, PLEAT_STAGING_IN);
            hand_sleep(&h, (waits[i] - 1) * SECONDS);
            is(&h, component, PLEAT_STAGING_IN);
            hand_sleep(&h, SECONDS + 1);
        }
        is(&h, component, PLEAT_CLAIMING);
        if (i < 2)
            assert_int_equal(
                hand_claim_failed(&h, claim_of(&h, component), PLEAT_REASON_CLAIM_REFUSED), 0);
    }
    assert_int_equal(hand_count(&h, PLEAT_DO_STAGE), 3);
    hand_finish(&h);
}

static void test_components_claim_when_the_files_of_all_are_there(void **state)
{
    (void)state;
    struct hand h;
    two_sites(&h);
    assert_int_equal(submit(&h, 1, 0, 4, 0, true), 0); /* without files */
    assert_int_equal(submit(&h, 1, 1, 4, 1, true), 0);
    assert_int_equal(add_file(&h, 1, 1, 100000000, 0), 0);
    assert_int_equal(submit(&h, 1, 2, 4, 0, false), 0);
    is(&h, 0, PLEAT_PLACED);
    is(&h, 1, PLEAT_STAGING_IN);
    assert_int_equal(hand_count(&h, PLEAT_DO_CLAIM), 0);
    hand_sleep(&h, 101 * SECONDS);
    for (uint32_t c = 0; c < 3; c++) {
        is(&h, c, PLEAT_CLAIMING);
        assert_int_equal(hand_claimed(&h, claim_of(&h, c), 4), 0);
    }
    assert_int_equal(hand_count(&h, PLEAT_DO_START), 0);
    assert_int_equal(staged(&h, 1), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_START), 3);
    hand_finish(&h);
}

static int stage_failed(struct hand *h, uint32_t component, enum pleat_reason reason)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_STAGE_FAILED,
        .component = component,
        .u.staged = {.number = hand_component(h, component)->staging_number, .reason = reason}};
    return hand_feed(h, event);
}

static void test_a_file_that_does_not_exist_fails_the_job(void **state)
{
    (void)state;
    struct hand h;
    two_sites(&h);
    uint32_t component = with_file(&h, 1, 1, 100);
    assert_int_equal(stage_failed(&h, component, PLEAT_REASON_START_USER), 0);
    is(&h, component, PLEAT_FAILED);
    assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_START_USER);
    assert_int_equal(stage_failed(&h, component, PLEAT_REASON_START_USER), PLEAT_CORE_STALE);
    hand_finish(&h);
}

static void test_a_file_that_cannot_be_brought_now_is_tried_again(void **state)
{
    (void)state;
    struct hand h;
    two_sites(&h);
    uint32_t component = with_file(&h, 1, 1, 100);
    uint64_t first = hand_component(&h, component)->run;
    assert_int_equal(stage_failed(&h, component, PLEAT_REASON_START_SYSTEM), 0);
    is(&h, component, PLEAT_STAGING_IN);
    assert_int_equal(hand_count(&h, PLEAT_DO_STAGE), 2);
    assert_true(hand_component(&h, component)->run > first);
    assert_int_equal(hand_cancel(&h, component), 0);
    is(&h, component, PLEAT_CANCELLED);
    hand_finish(&h);
}

/* After a restart it is asked for again. */
static void test_files_are_asked_for_again_after_a_restart(void **state)
{
    (void)state;
    struct hand h;
    two_sites(&h);
    (void)with_file(&h, 1, 1, 100);
    hand_mark(&h);
    assert_int_equal(pleat_core_outstanding(h.core, &h.effects), 0);
    assert_int_equal(hand_count(&h, PLEAT_DO_STAGE), 1);
    hand_finish(&h);
}

/* ---- errors of sites ---- */

/* A start that fails at a site, by its node's fault; the job ends, as attempts are 1. */
static void fails_at(struct hand *h, uint32_t site)
{
    uint32_t component = pleat_core_next_component(h->core);
    assert_int_equal(submit(h, component + 1, 0, 1, site, false), 0);
    assert_int_equal(hand_claimed(h, claim_of(h, component), 1), 0);
    assert_int_equal(hand_ended(h, PLEAT_EV_START_FAILED, component, PLEAT_REASON_START_SYSTEM), 0);
    hand_release_all(h);
    is(h, component, PLEAT_FAILED);
}

static const struct pleat_site *site_of(const struct hand *h, uint32_t site)
{
    return &pleat_core_view(h->core)->sites[site];
}

static void test_a_site_with_too_many_errors_is_left_alone(void **state)
{
    (void)state;
    struct hand h;
    two_sites(&h);
    hand_parameter(&h, PLEAT_PARAM_ATTEMPTS, 1);
    hand_parameter(&h, PLEAT_PARAM_SITE_ERRORS, 2);
    for (int i = 0; i < 3; i++) {
        assert_false(site_of(&h, 0)->barred);
        fails_at(&h, 0);
    }
    assert_true(site_of(&h, 0)->barred);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 6, 6, 0);
    assert_int_equal(hand_component(&h, component)->site, 1);
    uint32_t waits = hand_submit(&h, PLEAT_RIGID, 6, 6, 0);
    is(&h, waits, PLEAT_QUEUED);
    /* until the administrator says something about it */
    struct pleat_event site = {.kind = PLEAT_EV_SITE, .u.site = {.capacity = 8}};
    assert_int_equal(hand_feed(&h, site), 0);
    is(&h, waits, PLEAT_CLAIMING);
    hand_finish(&h);
}

static void test_a_start_that_succeeds_makes_errors_forgotten(void **state)
{
    (void)state;
    struct hand h;
    two_sites(&h);
    hand_parameter(&h, PLEAT_PARAM_ATTEMPTS, 1);
    hand_parameter(&h, PLEAT_PARAM_SITE_ERRORS, 1);
    fails_at(&h, 0);
    assert_int_equal(site_of(&h, 0)->errors, 1);
    assert_int_equal(submit(&h, 50, 0, 1, 0, false), 0);
    uint32_t component = pleat_core_view(h.core)->component_count - 1;
    assert_int_equal(hand_claimed(&h, claim_of(&h, component), 1), 0);
    assert_int_equal(hand_started(&h, component), 0);
    assert_int_equal(site_of(&h, 0)->errors, 0);
    fails_at(&h, 0);
    assert_false(site_of(&h, 0)->barred);
    hand_finish(&h);
}

static void test_a_site_is_considered_again_after_a_while(void **state)
{
    (void)state;
    struct hand h;
    two_sites(&h);
    hand_parameter(&h, PLEAT_PARAM_ATTEMPTS, 1);
    hand_parameter(&h, PLEAT_PARAM_SITE_ERRORS, 1);
    hand_parameter(&h, PLEAT_PARAM_SITE_AGAIN_US, 300 * SECONDS);
    fails_at(&h, 1);
    fails_at(&h, 1);
    assert_int_equal(submit(&h, 50, 0, 8, 1, false), 0);
    uint32_t component = pleat_core_view(h.core)->component_count - 1;
    is(&h, component, PLEAT_QUEUED);
    hand_sleep(&h, 300 * SECONDS);
    is(&h, component, PLEAT_CLAIMING);
    /* a higher limit has the same effect at once */
    fails_at(&h, 0);
    fails_at(&h, 0);
    assert_true(site_of(&h, 0)->barred);
    hand_parameter(&h, PLEAT_PARAM_SITE_ERRORS, 5);
    assert_false(site_of(&h, 0)->barred);
    hand_finish(&h);
}

static void test_errors_fade(void **state)
{
    (void)state;
    struct hand h;
    two_sites(&h);
    hand_parameter(&h, PLEAT_PARAM_ATTEMPTS, 1);
    hand_parameter(&h, PLEAT_PARAM_SITE_ERRORS, 3);
    hand_parameter(&h, PLEAT_PARAM_ERRORS_FADE_US, 100 * SECONDS);
    for (int i = 0; i < 3; i++)
        fails_at(&h, 0);
    assert_int_equal(site_of(&h, 0)->errors, 3);
    /* whoever asks sees it without an event */
    int64_t now = site_of(&h, 0)->faded_us;
    assert_int_equal(pleat_core_failed_starts(h.core, 0, now + 99 * SECONDS), 3);
    assert_int_equal(pleat_core_failed_starts(h.core, 0, now + 100 * SECONDS), 1);
    assert_int_equal(pleat_core_failed_starts(h.core, 0, now + 200 * SECONDS), 0);
    assert_int_equal(pleat_core_failed_starts(h.core, 0, INT64_MAX), 0);
    /* one more at once had been too many; later it is not, and the rest of a time is not lost */
    hand_sleep(&h, 150 * SECONDS);
    fails_at(&h, 0);
    assert_int_equal(site_of(&h, 0)->errors, 2);
    assert_false(site_of(&h, 0)->barred);
    hand_sleep(&h, 50 * SECONDS);
    fails_at(&h, 0);
    assert_int_equal(site_of(&h, 0)->errors, 2);
    /* as many as that without a pause still are too many */
    fails_at(&h, 0);
    assert_false(site_of(&h, 0)->barred);
    fails_at(&h, 0);
    assert_true(site_of(&h, 0)->barred);
    hand_finish(&h);
}

static void test_losses_and_broken_claims_are_errors(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t component = hand_run(&h, 2, 8, 4);
    assert_int_equal(hand_lost(&h, claim_of(&h, component)), 0);
    assert_int_equal(hand_site(&h)->errors, 1);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    assert_int_equal(hand_claim_failed(&h, claim_of(&h, component), PLEAT_REASON_CLAIM_FAILED), 0);
    assert_int_equal(hand_site(&h)->errors, 2);
    hand_sleep(&h, pleat_parameter_default(PLEAT_PARAM_BACKOFF_US));
    /* that it has none for now is no error */
    assert_int_equal(hand_claim_failed(&h, claim_of(&h, component), PLEAT_REASON_CLAIM_REFUSED), 0);
    assert_int_equal(hand_site(&h)->errors, 2);
    hand_finish(&h);
}

/* ---- pauses ---- */

static void pauses(struct hand *h)
{
    hand_init(h, 8);
    hand_parameter(h, PLEAT_PARAM_PAUSE_US, 1 * SECONDS);
    hand_parameter(h, PLEAT_PARAM_PAUSE_MAX_US, 8 * SECONDS);
    hand_parameter(h, PLEAT_PARAM_ATTEMPTS, 1);
}

/* It has its processors, and its node cannot start it. */
static void cannot_start(struct hand *h, uint32_t component)
{
    is(h, component, PLEAT_CLAIMING);
    assert_int_equal(hand_claimed(h, claim_of(h, component), 2), 0);
    assert_int_equal(hand_ended(h, PLEAT_EV_START_FAILED, component, PLEAT_REASON_START_SYSTEM), 0);
    hand_release_all(h);
}

static void test_a_job_that_cannot_be_started_waits_for_a_while(void **state)
{
    (void)state;
    struct hand h;
    pauses(&h);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    cannot_start(&h, component);
    is(&h, component, PLEAT_QUEUED);
    assert_int_equal(hand_component(&h, component)->attempt, 0);
    assert_int_equal(hand_site(&h)->failed_starts, 1);
    /* nobody else is tried there meanwhile */
    uint32_t other = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    is(&h, other, PLEAT_QUEUED);
    hand_sleep(&h, 1 * SECONDS - 1);
    is(&h, component, PLEAT_QUEUED);
    is(&h, other, PLEAT_QUEUED);
    hand_sleep(&h, 1);
    is(&h, component, PLEAT_CLAIMING);
    is(&h, other, PLEAT_CLAIMING);
    /* at its old place: before the other one, whose claim comes after its own */
    assert_int_equal(hand_claimed(&h, claim_of(&h, component), 2), 0);
    assert_int_equal(hand_started(&h, component), 0);
    is(&h, component, PLEAT_RUNNING);
    assert_int_equal(hand_component(&h, component)->failed_starts, 0);
    assert_int_equal(hand_site(&h)->pauses, 0);
    hand_finish(&h);
}

static void test_pauses_grow_to_a_bound(void **state)
{
    (void)state;
    static const int64_t seconds[] = {1, 2, 4, 8, 8, 8};
    struct hand h;
    pauses(&h);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
        cannot_start(&h, component);
        hand_sleep(&h, seconds[i] * SECONDS - 1);
        is(&h, component, PLEAT_QUEUED);
        hand_sleep(&h, 1);
    }
    is(&h, component, PLEAT_CLAIMING);
    /* one that succeeds ends that */
    assert_int_equal(hand_claimed(&h, claim_of(&h, component), 2), 0);
    assert_int_equal(hand_started(&h, component), 0);
    uint32_t next = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    cannot_start(&h, next);
    hand_sleep(&h, 1 * SECONDS);
    is(&h, next, PLEAT_CLAIMING);
    hand_finish(&h);
}

static void test_many_failures_at_once_are_one_pause(void **state)
{
    (void)state;
    struct hand h;
    pauses(&h);
    uint32_t jobs[4];
    for (int i = 0; i < 4; i++)
        jobs[i] = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    for (int i = 0; i < 4; i++)
        cannot_start(&h, jobs[i]);
    assert_int_equal(hand_site(&h)->pauses, 1);
    assert_int_equal(hand_site(&h)->failed_starts, 4);
    hand_sleep(&h, 1 * SECONDS);
    for (int i = 0; i < 4; i++)
        is(&h, jobs[i], PLEAT_CLAIMING);
    hand_finish(&h);
}

static void test_a_job_is_not_tried_for_ever(void **state)
{
    (void)state;
    struct hand h;
    pauses(&h);
    hand_parameter(&h, PLEAT_PARAM_START_TRIES, 3);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    cannot_start(&h, component);
    hand_sleep(&h, 1 * SECONDS);
    cannot_start(&h, component);
    hand_sleep(&h, 2 * SECONDS);
    cannot_start(&h, component);
    is(&h, component, PLEAT_FAILED);
    assert_int_equal(hand_component(&h, component)->reason, PLEAT_REASON_START_SYSTEM);
    hand_finish(&h);
}

static void test_cancelled_in_a_pause(void **state)
{
    (void)state;
    struct hand h;
    pauses(&h);
    uint32_t component = hand_submit(&h, PLEAT_RIGID, 2, 2, 0);
    cannot_start(&h, component);
    assert_int_equal(hand_cancel(&h, component), 0);
    is(&h, component, PLEAT_CANCELLED);
    hand_sleep(&h, 10 * SECONDS);
    is(&h, component, PLEAT_CANCELLED);
    hand_finish(&h);
}

/* Nobody grows there either. */
static void test_nobody_grows_at_a_site_that_is_left_alone(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    hand_parameter(&h, PLEAT_PARAM_ATTEMPTS, 1);
    hand_parameter(&h, PLEAT_PARAM_SITE_ERRORS, 1);
    uint32_t component = hand_run(&h, 2, 8, 4);
    fails_at(&h, 0);
    fails_at(&h, 0);
    hand_policy(&h, PLEAT_MALLEABILITY, "egs");
    is(&h, component, PLEAT_RUNNING);
    hand_parameter(&h, PLEAT_PARAM_SITE_ERRORS, 0);
    is(&h, component, PLEAT_RESIZING);
    hand_finish(&h);
}

/* ---- an application that gives back ---- */

static int give_back(struct hand *h, uint32_t component, int32_t count)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_RETURNED,
        .component = component,
        .u.returned = {.run = hand_component(h, component)->run, .count = count}};
    return hand_feed(h, event);
}

static void test_an_application_gives_back_processors(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 12, 8);
    assert_int_equal(give_back(&h, component, 3), 0);
    assert_int_equal(hand_component(&h, component)->processors, 5);
    assert_int_equal(hand_site(&h)->releasing, 3);
    assert_int_equal(hand_count(&h, PLEAT_NOTE_SIZE), 1);
    is(&h, component, PLEAT_RUNNING);
    assert_int_equal(give_back(&h, component, 4), PLEAT_CORE_STALE); /* below its minimum */
    assert_int_equal(give_back(&h, component, 0), PLEAT_CORE_STALE);
    assert_int_equal(give_back(&h, component, 6), PLEAT_CORE_STALE);
    uint32_t rigid = hand_submit(&h, PLEAT_RIGID, 4, 4, 0);
    assert_int_equal(hand_claimed(&h, claim_of(&h, rigid), 4), 0);
    assert_int_equal(hand_started(&h, rigid), 0);
    assert_int_equal(give_back(&h, rigid, 1), PLEAT_CORE_STALE);
    hand_finish(&h);
}

/* pleatd was restarted before it could say that it heard of it. */
static void test_it_gives_back_and_says_so_twice(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 12, 8);
    struct pleat_event event = {
        .kind = PLEAT_EV_RETURNED,
        .component = component,
        .u.returned = {.run = hand_component(&h, component)->run, .count = 2, .number = 1}};
    assert_int_equal(hand_feed(&h, event), 0);
    assert_int_equal(hand_feed(&h, event), PLEAT_CORE_STALE);
    assert_int_equal(hand_component(&h, component)->processors, 6);
    hand_restart(&h);
    assert_int_equal(hand_feed(&h, event), PLEAT_CORE_STALE);
    event.u.returned.number = 2;
    assert_int_equal(hand_feed(&h, event), 0);
    assert_int_equal(hand_component(&h, component)->processors, 4);
    assert_int_equal(give_back(&h, component, 1), 0); /* as in a log of before: not counted */
    assert_int_equal(give_back(&h, component, 1), 0);
    assert_int_equal(hand_component(&h, component)->processors, 2);
    hand_finish(&h);
}

static void test_it_gives_back_more_than_its_minimum(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    h.flags = PLEAT_COMPONENT_EMPTY;
    uint32_t component = hand_run(&h, 4, 12, 8);
    assert_int_equal(give_back(&h, component, 8), 0);
    assert_int_equal(hand_component(&h, component)->processors, 0);
    is(&h, component, PLEAT_RUNNING);
    hand_release_all(&h);
    /* its limits may change all the same; it grows to its minimum at least */
    assert_int_equal(hand_limits(&h, component, 4, 9), 0);
    assert_int_equal(hand_resize(&h, component, 2, PLEAT_NONE), PLEAT_E_STATE);
    assert_int_equal(hand_resize(&h, component, 4, PLEAT_NONE), 0);
    assert_int_equal(hand_claimed(&h, claim_of(&h, component), 4), 0);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 4), 0);
    assert_int_equal(hand_component(&h, component)->processors, 4);
    assert_int_equal(hand_exited(&h, component, 0), 0);
    hand_release_all(&h);
    is(&h, component, PLEAT_DONE);
    hand_finish(&h);
}

static void test_it_gives_back_while_a_growth_is_claimed(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 12, 8);
    assert_int_equal(hand_resize(&h, component, 12, PLEAT_NONE), 0);
    assert_int_equal(give_back(&h, component, 4), 0); /* both sizes of the growth fall */
    assert_int_equal(hand_component(&h, component)->target, 8);
    assert_int_equal(hand_claimed(&h, claim_of(&h, component), 4), 0);
    assert_int_equal(hand_last(&h, PLEAT_DO_RESIZE).u.change.processors, 8);
    /* it has been told: it says so again when it has grown */
    assert_int_equal(give_back(&h, component, 1), PLEAT_CORE_STALE);
    assert_int_equal(hand_change(&h, PLEAT_EV_APPLIED, component, 8), 0);
    hand_expect(&h, component, PLEAT_OUTCOME_GROWN, PLEAT_RUNNING, 8);
    assert_int_equal(give_back(&h, component, 1), 0);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_are_brought_before_processors_are_claimed),
        cmocka_unit_test(test_files_that_are_there_are_not_brought),
        cmocka_unit_test(test_files_come_from_where_that_is_fastest),
        cmocka_unit_test(test_a_claim_that_fails_is_made_earlier_the_next_time),
        cmocka_unit_test(test_claims_are_made_at_once_in_the_end),
        cmocka_unit_test(test_components_claim_when_the_files_of_all_are_there),
        cmocka_unit_test(test_a_file_that_does_not_exist_fails_the_job),
        cmocka_unit_test(test_a_file_that_cannot_be_brought_now_is_tried_again),
        cmocka_unit_test(test_files_are_asked_for_again_after_a_restart),
        cmocka_unit_test(test_a_site_with_too_many_errors_is_left_alone),
        cmocka_unit_test(test_a_start_that_succeeds_makes_errors_forgotten),
        cmocka_unit_test(test_a_site_is_considered_again_after_a_while),
        cmocka_unit_test(test_errors_fade),
        cmocka_unit_test(test_losses_and_broken_claims_are_errors),
        cmocka_unit_test(test_a_job_that_cannot_be_started_waits_for_a_while),
        cmocka_unit_test(test_pauses_grow_to_a_bound),
        cmocka_unit_test(test_many_failures_at_once_are_one_pause),
        cmocka_unit_test(test_a_job_is_not_tried_for_ever),
        cmocka_unit_test(test_cancelled_in_a_pause),
        cmocka_unit_test(test_nobody_grows_at_a_site_that_is_left_alone),
        cmocka_unit_test(test_an_application_gives_back_processors),
        cmocka_unit_test(test_it_gives_back_and_says_so_twice),
        cmocka_unit_test(test_it_gives_back_more_than_its_minimum),
        cmocka_unit_test(test_it_gives_back_while_a_growth_is_claimed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

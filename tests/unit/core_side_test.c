/* Records beside those of components: only those that need one have one, it is used again, saved
 * and loaded, and where it cannot be made the event changes nothing. */
#include "core_scenarios_hand.h"

#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool is_full; /* no memory is given */

void *__wrap_malloc(size_t size)
{
    return is_full ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return is_full ? NULL : __real_realloc(old, size);
}

/* An event for which there is no memory. */
static int feed_when_full(struct hand *h, struct pleat_event event)
{
    struct pleat_effects effects = {0};
    assert_int_equal(pleat_array_reserve(&effects, 16), 0);
    event.time_us = h->now_us;
    is_full = true;
    int rc = pleat_core_apply(h->core, &event, &effects, &h->err);
    is_full = false;
    pleat_array_finish(&effects);
    return rc;
}

static struct pleat_string saved(const struct hand *h)
{
    struct pleat_string state = {0};
    assert_int_equal(pleat_core_save(h->core, &state), 0);
    return state;
}

static void assert_saved(const struct hand *h, struct pleat_string *before)
{
    struct pleat_string now = saved(h);
    assert_int_equal(now.length, before->length);
    assert_memory_equal(now.text, before->text, now.length);
    pleat_string_finish(&now);
    pleat_string_finish(before);
}

/* The core becomes the one that is loaded from its state, which is the same. */
static void load_again(struct hand *h)
{
    struct pleat_string state = saved(h);
    pleat_core_destroy(h->core);
    assert_int_equal(pleat_core_load(state.text, state.length, &h->core, &h->err), 0);
    assert_int_equal(pleat_core_check(h->core, &h->err), 0);
    assert_saved(h, &state);
}

static void end(struct hand *h, uint32_t component)
{
    assert_int_equal(hand_exited(h, component, 0), 0);
    hand_release_all(h);
    struct pleat_event forget = {.kind = PLEAT_EV_FORGET, .component = component};
    assert_int_equal(hand_feed(h, forget), 0);
}

static struct pleat_event partition(uint32_t component, int32_t least, int32_t most)
{
    return (struct pleat_event){.kind = PLEAT_EV_PARTITION,
                                .component = component,
                                .u.partition = {.minimum = least, .maximum = most}};
}

static struct pleat_event follows(const struct hand *h, uint16_t ordinal, uint16_t flags)
{
    return (struct pleat_event){.kind = PLEAT_EV_SUBMIT,
                                .component = pleat_core_next_component(h->core),
                                .flags = flags,
                                .u.submit = {.job = 99,
                                             .ordinal = ordinal,
                                             .minimum = 2,
                                             .maximum = 2,
                                             .site = PLEAT_NONE,
                                             .job_kind = PLEAT_RIGID}};
}

static struct pleat_event reads_file(uint32_t component)
{
    return (struct pleat_event){
        .kind = PLEAT_EV_INPUT, .component = component, .u.input = {.bytes = 1000, .file = 1}};
}

static struct pleat_event declared(const struct hand *h, uint32_t component, int32_t most)
{
    return (struct pleat_event){
        .kind = PLEAT_EV_DECLARED,
        .component = component,
        .u.declared = {.run = hand_component(h, component)->run, .maximum = most}};
}

static void test_a_plain_job_has_none(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t component = hand_run(&h, 2, 8, 4);
    /* a limit of time stands in the component's record; the rest is as configured */
    assert_int_equal(hand_terms(&h, component, -1, -1, 60 * SECONDS), 0);
    assert_int_equal(hand_component(&h, component)->terms, PLEAT_NONE);
    assert_int_equal(hand_component(&h, component)->folding, PLEAT_NONE);
    assert_int_equal(hand_component(&h, component)->declaration, PLEAT_NONE);
    assert_int_equal(hand_component(&h, component)->coallocation, PLEAT_NONE);
    const struct pleat_view *view = pleat_core_view(h.core);
    assert_int_equal(pleat_view_terms(view, hand_component(&h, component))->notice_us, -1);
    assert_int_equal(pleat_view_asked(view, hand_component(&h, component)), 8);
    hand_finish(&h);
}

static void test_a_record_is_used_again(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 16);
    uint32_t first = hand_run(&h, 2, 8, 4);
    assert_int_equal(hand_terms(&h, first, 5 * SECONDS, 7 * SECONDS, 0), 0);
    assert_int_equal(hand_feed(&h, declared(&h, first, 6)), 0);
    uint32_t terms = hand_component(&h, first)->terms;
    uint32_t declaration = hand_component(&h, first)->declaration;
    assert_int_not_equal(terms, PLEAT_NONE);
    assert_int_not_equal(declaration, PLEAT_NONE);
    for (int i = 0; i < 3; i++) {
        end(&h, first);
        assert_int_equal(hand_run(&h, 2, 8, 4), first); /* its record is used again */
        assert_int_equal(hand_component(&h, first)->terms, PLEAT_NONE);
        assert_int_equal(hand_component(&h, first)->declaration, PLEAT_NONE);
        assert_int_equal(hand_terms(&h, first, -1, 3 * SECONDS, 0), 0);
        assert_int_equal(hand_feed(&h, declared(&h, first, 5)), 0);
        assert_int_equal(hand_component(&h, first)->terms, terms);
        assert_int_equal(hand_component(&h, first)->declaration, declaration);
        /* nothing of the one before is in it */
        const struct pleat_view *view = pleat_core_view(h.core);
        assert_int_equal(pleat_view_terms(view, hand_component(&h, first))->notice_us, -1);
        assert_int_equal(pleat_view_asked(view, hand_component(&h, first)), 8);
    }
    hand_finish(&h);
}

static void test_saved_and_loaded(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 64);
    uint32_t plain = hand_run(&h, 1, 8, 2);
    uint32_t has_terms = hand_run(&h, 1, 8, 2), says = hand_run(&h, 1, 8, 2);
    h.flags = PLEAT_COMPONENT_FOLDS;
    uint32_t folds = hand_submit(&h, PLEAT_MALLEABLE, 4, 8, 0);
    assert_int_equal(hand_terms(&h, has_terms, 5 * SECONDS, 7 * SECONDS, 0), 0);
    assert_int_equal(hand_feed(&h, declared(&h, says, 6)), 0);
    assert_int_equal(hand_feed(&h, partition(folds, 2, 4)), 0);
    h.flags = 0;
    uint32_t reads = hand_submit(&h, PLEAT_RIGID, 64, 64, 0); /* waits */
    assert_int_equal(hand_feed(&h, reads_file(reads)), 0);
    uint32_t lead = pleat_core_next_component(h.core);
    assert_int_equal(hand_feed(&h, follows(&h, 0, PLEAT_COMPONENT_FOLLOWS)), 0);
    uint32_t last = pleat_core_next_component(h.core);
    assert_int_equal(hand_feed(&h, follows(&h, 1, 0)), 0);
    load_again(&h);
    const struct pleat_view *view = pleat_core_view(h.core);
    assert_true(pleat_view_has_files(view, hand_component(&h, reads)));
    assert_int_equal(pleat_view_sibling(view, lead), last);
    assert_int_equal(pleat_view_sibling(view, last), PLEAT_NONE);
    /* loading made that of the last component, too: it needs no memory when it has its
     * processors */
    assert_int_not_equal(hand_component(&h, last)->coallocation, PLEAT_NONE);
    assert_int_equal(pleat_view_terms(view, hand_component(&h, has_terms))->notice_us, 5 * SECONDS);
    assert_int_equal(pleat_view_lifetime(view, hand_component(&h, has_terms)), 7 * SECONDS);
    assert_int_equal(pleat_view_declaration(view, hand_component(&h, says))->declared, 6);
    assert_int_equal(pleat_view_asked(view, hand_component(&h, says)), 8);
    assert_int_equal(pleat_view_partition_most(view, hand_component(&h, folds)), 4);
    assert_int_equal(pleat_view_folding(view, hand_component(&h, folds))->partition_least, 2);
    assert_int_equal(hand_component(&h, plain)->terms, PLEAT_NONE);
    assert_int_equal(hand_component(&h, says)->terms, PLEAT_NONE);
    assert_int_equal(hand_component(&h, has_terms)->declaration, PLEAT_NONE);
    hand_finish(&h);
}

static void test_no_memory_for_one(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 64);
    uint32_t component = hand_run(&h, 2, 8, 4);
    uint32_t waits = hand_submit(&h, PLEAT_RIGID, 64, 64, 0);
    h.flags = PLEAT_COMPONENT_FOLDS;
    uint32_t folds = hand_submit(&h, PLEAT_MALLEABLE, 4, 8, 0);
    struct pleat_event terms = {.kind = PLEAT_EV_TERMS,
                                .component = component,
                                .u.terms = {5 * SECONDS, 7 * SECONDS, 60 * SECONDS}};
    struct pleat_event signal = {.kind = PLEAT_EV_LIMIT_SIGNAL,
                                 .component = component,
                                 .u.signal = {.number = 10, .lead_us = SECONDS}};
    struct pleat_event submit = {.kind = PLEAT_EV_SUBMIT,
                                 .component = pleat_core_next_component(h.core),
                                 .flags = PLEAT_COMPONENT_FOLDS,
                                 .u.submit = {.job = 99,
                                              .minimum = 2,
                                              .maximum = 4,
                                              .site = PLEAT_NONE,
                                              .job_kind = PLEAT_MALLEABLE,
                                              .mpl_max = 2}};
    const struct pleat_event events[] = {terms,
                                         signal,
                                         partition(folds, 2, 4),
                                         declared(&h, component, 6),
                                         reads_file(waits),
                                         submit,
                                         follows(&h, 0, PLEAT_COMPONENT_FOLLOWS)};
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        struct pleat_string before = saved(&h);
        assert_int_equal(feed_when_full(&h, events[i]), PLEAT_E_NOMEM);
        assert_int_equal(pleat_core_check(h.core, &h.err), 0);
        assert_saved(&h, &before);
    }
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        struct pleat_event event = events[i];
        if (event.kind == PLEAT_EV_SUBMIT)
            event.component = pleat_core_next_component(h.core);
        assert_int_equal(hand_feed(&h, event), 0);
    }
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plain_job_has_none),
        cmocka_unit_test(test_a_record_is_used_again),
        cmocka_unit_test(test_saved_and_loaded),
        cmocka_unit_test(test_no_memory_for_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

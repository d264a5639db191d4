/* Why a waiting component waits, in words. */
#include "daemon/waiting.h"

#include "test.h"

enum { S = 1000000 };

static const char *says(const struct pleat_view *view, uint32_t component)
{
    static char text[160];
    waiting_text(view, &view->components[component], 100 * S, text, sizeof(text));
    return text;
}

static void test_each_reason(void **state)
{
    (void)state;
    struct pleat_component components[2] = {
        {.state = PLEAT_QUEUED, .minimum = 4, .maximum = 4, .job = 7},
        {.state = PLEAT_QUEUED, .minimum = 2, .maximum = 2, .job = 8, .begin_us = 130 * S},
    };
    struct pleat_site site = {.capacity = 8};
    struct pleat_view view = {
        .components = components, .sites = &site, .component_count = 2, .site_count = 1};
    assert_string_equal(says(&view, 0), "waits for 4 processors");
    site.background = 1;
    assert_string_equal(says(&view, 0),
                        "waits for 4 processors (other work on the machine keeps some busy)");
    assert_string_equal(says(&view, 1), "waits its turn behind job 7");
    components[1].aside = PLEAT_ASIDE_RESERVATION;
    assert_string_equal(says(&view, 1), "its reservation begins in 30 s");
    /* in the tow of another one of its job: that is no reservation */
    components[1].aside = PLEAT_ASIDE_TOWED;
    assert_string_equal(says(&view, 1), "starts with the other components of its job");
    components[1].aside = PLEAT_ASIDE_NOT;
    components[1].coming = 2;
    assert_string_equal(says(&view, 1),
                        "room is being made: 0 of 2 processors earmarked, 2 coming");
    components[1].holds = PLEAT_HELD_BY_FAULT;
    components[1].failed_starts = 3;
    components[1].quiet_until_us = 105 * S;
    assert_string_equal(says(&view, 1),
                        "the node could not start it (3 in a row): tried again in 5 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_reason)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

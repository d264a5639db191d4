/* Records as bytes: what an event does not use is 0, what it uses stays. */
#include "test.h"

#include <string.h>

#include "model/event.h"

static struct pleat_event filled(uint16_t kind)
{
    struct pleat_event event;
    memset(&event, 0xff, sizeof(event));
    event.kind = kind;
    return event;
}

static size_t used(const struct pleat_event *event)
{
    size_t count = sizeof(event->u.bytes);
    while (count > 0 && event->u.bytes[count - 1] == 0)
        count--;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(event->u.bytes[i], 0xff);
    return count;
}

static void test_what_is_not_used_is_cleaned(void **state)
{
    (void)state;
    for (uint16_t kind = 1; kind < 200; kind++) {
        struct pleat_event event = filled(kind);
        pleat_event_clean(&event);
        assert_int_equal(event.kind, kind);
        assert_int_equal(event.component, UINT32_MAX);
        if (strcmp(pleat_event_name(kind), "?") == 0)
            assert_int_equal(used(&event), sizeof(event.u.bytes)); /* it might use all of it */
    }
}

/* The last member that each of them has. */
static void test_what_is_used_stays(void **state)
{
    (void)state;
    struct pleat_event event = filled(PLEAT_EV_SUBMIT);
    pleat_event_clean(&event);
    assert_int_equal(event.u.submit.priority, -1);
    assert_int_equal(event.u.submit.mpl_max, 255);
    assert_int_equal(used(&event), 48);
    event = filled(PLEAT_EV_SIZES);
    pleat_event_clean(&event);
    assert_int_equal(event.u.sizes.values[9], -1);
    event = filled(PLEAT_EV_EXITED);
    pleat_event_clean(&event);
    assert_int_equal(event.u.exit.reason, UINT32_MAX);
    assert_int_equal(used(&event), 20);
    event = filled(PLEAT_EV_RESIZE);
    pleat_event_clean(&event);
    assert_int_equal(event.u.resize.waiter, UINT32_MAX);
    event = filled(PLEAT_EV_START);
    pleat_event_clean(&event);
    assert_int_equal(event.u.start.mpl, UINT32_MAX);
    assert_int_equal(used(&event), 16);
    event = filled(PLEAT_EV_PREEMPT);
    pleat_event_clean(&event);
    assert_int_equal(used(&event), 0);
    event = filled(PLEAT_EV_PROMISE);
    pleat_event_clean(&event);
    assert_int_equal(event.u.promise.site, UINT32_MAX);
    assert_int_equal(used(&event), 12);
    event = filled(PLEAT_EV_TIMED);
    pleat_event_clean(&event);
    assert_int_equal(event.u.timed.processors, -1);
    assert_int_equal(used(&event), 28);
    event = filled(PLEAT_EV_HISTORY);
    pleat_event_clean(&event);
    assert_int_equal(event.u.history.rows[4].requests, -1);
    event = filled(PLEAT_EV_PROGRESS);
    pleat_event_clean(&event);
    assert_int_equal(event.u.progress.iteration, -1);
    assert_int_equal(used(&event), 20);
    event = filled(PLEAT_EV_ADD_PROCESS);
    pleat_event_clean(&event);
    assert_int_equal(event.u.process.iteration, -1);
    assert_int_equal(used(&event), 12);
    event = filled(PLEAT_EV_BUFFER);
    pleat_event_clean(&event);
    assert_int_equal(event.u.buffer.release, -1);
    assert_int_equal(used(&event), 20);
    event = filled(PLEAT_EV_FORGET);
    pleat_event_clean(&event);
    assert_int_equal(used(&event), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_not_used_is_cleaned),
        cmocka_unit_test(test_what_is_used_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Records as bytes: what an event does not use is 0, what it uses stays. */
#include "test.h"

#include <string.h>

#include "model/effect.h"
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
    assert_int_equal(event.u.buffer.site, UINT32_MAX);
    assert_int_equal(used(&event), 36);
    event = filled(PLEAT_EV_FORGET);
    pleat_event_clean(&event);
    assert_int_equal(used(&event), 0);
}

/* Numbers are in logs that exist: who renumbers, or forgets what a kind uses, cannot read them. */
static void test_numbers_stay(void **state)
{
    (void)state;
    static const struct {
        uint16_t number;
        const char *name;
        size_t used;
    } known[] = {
        {1, "policy", 12},        {2, "parameter", 12},      {3, "site", 16},
        {4, "background", 12},    {5, "sizes", 48},          {6, "salvaged", 0},
        {16, "submit", 48},       {17, "limits", 8},         {18, "cancel", 0},
        {19, "demand", 4},        {20, "deadline", 8},       {21, "reserve", 8},
        {22, "forget", 0},        {23, "terms", 24},         {24, "input", 16},
        {25, "link", 16},         {26, "history", 48},       {27, "partition", 12},
        {28, "hold", 0},          {29, "release", 0},        {30, "requeue", 0},
        {31, "depend", 16},       {32, "piece", 20},         {33, "claimed", 16},
        {34, "claim failed", 16}, {35, "released", 16},      {36, "lost", 16},
        {37, "agent away", 12},   {38, "agent back", 12},    {48, "started", 20},
        {49, "start failed", 20}, {50, "exited", 20},        {51, "answer", 16},
        {52, "applied", 16},      {53, "vacated", 16},       {54, "resize failed", 16},
        {55, "withdrawn", 16},    {56, "relaunched", 16},    {57, "returned", 16},
        {58, "timed", 28},        {59, "progress", 20},      {60, "add process", 12},
        {61, "stop process", 12}, {62, "staged", 20},        {63, "stage failed", 20},
        {64, "time", 0},          {80, "revise", 10},        {81, "group", 8},
        {82, "limit signal", 16}, {83, "signalled", 20},     {84, "declared", 24},
        {85, "asked", 24},        {86, "node", 8},           {87, "section", 8},
        {88, "expected", 16},     {93, "claim waits", 28},   {89, "claim ends", 20},
        {94, "node gone", 4},     {100, "drain", 0},         {101, "resume", 0},
        {102, "node drain", 4},   {103, "node resume", 4},   {104, "node background", 8},
        {105, "site gone", 0},    {106, "moved", 16},        {107, "prepared", 16},
        {108, "demanded", 24},    {109, "taken", 16},        {110, "process gone", 20},
        {112, "node more", 8},    {113, "measured", 48},     {115, "node home", 8},
        {114, "remembered", 48},  {117, "unlearned", 4},     {118, "recalled", 16},
        {111, "architecture", 8}, {116, "demanded on", 16},  {119, "returning", 16},
        {120, "demanded at", 20}, {128, "pass", 0},          {129, "start", 16},
        {130, "resize", 20},      {131, "tried", 0},         {132, "wake", 8},
        {133, "promise", 12},     {134, "preempt", 0},       {135, "buffer", 36},
        {136, "refuse", 4},       {122, "demanded any", 12}, {123, "site for any", 16},
    };
    size_t count = 0;
    for (unsigned kind = 0; kind < PLEAT_EV_COUNT; kind++)
        count += strcmp(pleat_event_name(kind), "?") != 0;
    assert_int_equal(count, sizeof(known) / sizeof(known[0])); /* a new kind is added here, too */
    for (size_t i = 0; i < count; i++) {
        struct pleat_event event = filled(known[i].number);
        pleat_event_clean(&event);
        assert_string_equal(pleat_event_name(known[i].number), known[i].name);
        assert_int_equal(used(&event), known[i].used);
    }
}

/* No driver may pass over what it cannot do; what it is only told asks for nothing. */
static void test_effects_that_are_not_carried_out(void **state)
{
    (void)state;
    struct pleat_error err = {0};
    struct pleat_effect effect = {.kind = PLEAT_DO_STAGE};
    assert_int_equal(pleat_effect_unsupported(&effect, "pleatd", &err), PLEAT_E_UNSUPPORTED);
    assert_string_equal(err.text, "pleatd does not carry out 'stage' (effect 10)");
    effect.kind = 63;
    assert_int_equal(pleat_effect_unsupported(&effect, "pleatd", &err), PLEAT_E_UNSUPPORTED);
    assert_string_equal(err.text, "pleatd does not carry out '?' (effect 63)");
    for (uint16_t kind = PLEAT_EFFECT_FIRST_NOTE; kind < PLEAT_EFFECT_COUNT; kind++) {
        effect.kind = kind;
        assert_int_equal(pleat_effect_unsupported(&effect, "pleatd", &err), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_not_used_is_cleaned),
        cmocka_unit_test(test_what_is_used_stays),
        cmocka_unit_test(test_numbers_stay),
        cmocka_unit_test(test_effects_that_are_not_carried_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Effects that the simulator does not carry out: an error that names the effect, never silence. The
 * core of a simulation emits none of them, so here one is put among the effects of a pass (the
 * linker wraps the call). */
#include "sim_fixture.h"

int __real_pleat_core_pass(struct pleat_core *core, int64_t now_us, struct pleat_events *decisions,
                           struct pleat_effects *effects, struct pleat_error *err);
int __wrap_pleat_core_pass(struct pleat_core *core, int64_t now_us, struct pleat_events *decisions,
                           struct pleat_effects *effects, struct pleat_error *err);

static uint16_t kind_added; /* 0: none */

int __wrap_pleat_core_pass(struct pleat_core *core, int64_t now_us, struct pleat_events *decisions,
                           struct pleat_effects *effects, struct pleat_error *err)
{
    struct pleat_effect added = {.time_us = now_us, .kind = kind_added};
    int rc = __real_pleat_core_pass(core, now_us, decisions, effects, err);
    if (rc || !kind_added)
        return rc;
    return pleat_array_push(effects, added);
}

/* Runs one job, with an effect of that kind (0: none) at each pass. */
static int run_with(uint16_t kind, struct sim_world **world)
{
    *world = sim_world_create(4);
    sim_rigid(*world, 0, 2, 10);
    kind_added = kind;
    int rc = sim_try(*world);
    kind_added = 0;
    return rc;
}

static void test_an_effect_that_is_not_carried_out_ends_the_run(void **state)
{
    (void)state;
    static const struct {
        uint16_t kind;
        const char *text;
    } effects[] = {
        {PLEAT_DO_ASK, "the simulator does not carry out 'ask' (effect 5)"},
        {PLEAT_DO_RELAUNCH, "the simulator does not carry out 'relaunch' (effect 9)"},
        {PLEAT_DO_REACH, "the simulator does not carry out 'reach' (effect 12)"},
        {PLEAT_DO_NODE, "the simulator does not carry out 'node' (effect 15)"},
        {63, "the simulator does not carry out '?' (effect 63)"}, /* of a core that is newer */
    };
    for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++) {
        struct sim_world *world;
        assert_int_equal(run_with(effects[i].kind, &world), PLEAT_E_UNSUPPORTED);
        assert_string_equal(world->err.text, effects[i].text);
        sim_world_destroy(world);
    }
}

/* What only says what happened asks for nothing. */
static void test_a_note_changes_nothing(void **state)
{
    (void)state;
    for (uint16_t kind = PLEAT_EFFECT_FIRST_NOTE; kind < PLEAT_EFFECT_COUNT; kind++) {
        struct sim_world *world;
        assert_int_equal(run_with(kind, &world), 0);
        sim_expect(world, 0, 0, 10);
        sim_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_effect_that_is_not_carried_out_ends_the_run),
        cmocka_unit_test(test_a_note_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

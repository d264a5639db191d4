#include "world_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct pleat_core *world_core_of(const struct pleat_string *bytes)
{
    struct pleat_core *core;
    struct pleat_error err;
    if (pleat_core_load(bytes->text, bytes->length, &core, &err))
        fail_msg("%s", err.text);
    return core;
}

/* The records of a component, those beside it included, whichever of these those are. */
struct records {
    struct pleat_component component;
    struct pleat_terms terms;
    struct pleat_folding folding;
    struct pleat_declaration declaration;
    struct pleat_coallocation coallocation;
    struct pleat_ask ask;
};

static void records_of(const struct pleat_view *view, uint32_t index, struct records *records)
{
    const struct pleat_component *component = &view->components[index];
    memset(records, 0, sizeof(*records)); /* the padding, too */
    memcpy(&records->component, component, sizeof(*component));
    memcpy(&records->terms, pleat_view_terms(view, component), sizeof(records->terms));
    memcpy(&records->folding, pleat_view_folding(view, component), sizeof(records->folding));
    memcpy(&records->declaration, pleat_view_declaration(view, component),
           sizeof(records->declaration));
    memcpy(&records->coallocation, pleat_view_coallocation(view, component),
           sizeof(records->coallocation));
    memcpy(&records->ask, pleat_view_ask(view, component), sizeof(records->ask));
    records->component.ask = records->ask.component = PLEAT_NONE;
    records->component.coallocation = records->coallocation.component = PLEAT_NONE;
    records->component.terms = records->terms.component = PLEAT_NONE;
    records->component.folding = records->folding.component = PLEAT_NONE;
    records->component.declaration = records->declaration.component = PLEAT_NONE;
}

void world_check_recovery(const struct world *world)
{
    struct pleat_core *again;
    struct pleat_effects effects = {0};
    assert_int_equal(pleat_core_create(&again), 0);
    for (size_t i = 0; i < world->log.count; i++) {
        struct pleat_error err = {0};
        int rc = pleat_core_apply(again, &world->log.items[i], &effects, &err);
        if (rc)
            fail_msg("record %zu ('%s') gives %d when applied again: %s", i,
                     pleat_event_name(world->log.items[i].kind), rc, err.text);
    }
    const struct pleat_view *view = pleat_core_view(world->core);
    const struct pleat_view *view_again = pleat_core_view(again);
    assert_int_equal(view->component_count, view_again->component_count);
    for (uint32_t c = 0; c < view->component_count; c++) {
        struct records one, other;
        records_of(view, c, &one);
        records_of(view_again, c, &other);
        /* a forgotten record may keep what a refused submission had put there */
        bool is_free = pleat_component_is_forgotten(&one.component);
        assert_int_equal(is_free, pleat_component_is_forgotten(&other.component));
        if (!is_free)
            assert_memory_equal(&one, &other, sizeof(one));
    }
    assert_int_equal(pleat_core_next_component(world->core), pleat_core_next_component(again));
    assert_memory_equal(view->sites, view_again->sites, view->site_count * sizeof(*view->sites));
    assert_int_equal(pleat_core_claim_count(world->core), pleat_core_claim_count(again));
    pleat_array_finish(&effects);
    pleat_core_destroy(again);
}

void world_check_replay(const struct world *world, const struct pleat_string *from, size_t records)
{
    struct pleat_core *again = from ? world_core_of(from) : NULL;
    struct pleat_effects effects = {0};
    struct pleat_events decisions = {0};
    if (!from)
        assert_int_equal(pleat_core_create(&again), 0);
    for (size_t i = from ? records : 0; i < world->log.count;) {
        const struct pleat_event *event = &world->log.items[i];
        if (event->kind != PLEAT_EV_PASS) {
            assert_int_equal(pleat_core_apply(again, event, &effects, NULL), 0);
            i++;
            continue;
        }
        decisions.count = 0;
        assert_int_equal(pleat_core_pass(again, event->time_us, &decisions, &effects, NULL), 0);
        assert_true(i + decisions.count <= world->log.count);
        assert_memory_equal(decisions.items, event, decisions.count * sizeof(*event));
        i += decisions.count;
        effects.count = 0;
    }
    pleat_array_finish(&effects);
    pleat_array_finish(&decisions);
    pleat_core_destroy(again);
}

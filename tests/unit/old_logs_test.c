/* Logs that an earlier build wrote: recovered and decided again, the same comes out. See
 * tests/data/old-logs/README.md. */
#include "test.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/replay.h"

static void read_file(const char *path, struct pleat_string *bytes)
{
    char buffer[4096];
    size_t count;
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s cannot be read", path);
    while ((count = fread(buffer, 1, sizeof(buffer), file)) > 0)
        pleat_string_add_bytes(bytes, buffer, count);
    fclose(file);
}

static size_t read_log(const char *path, struct pleat_events *events)
{
    struct pleat_string bytes = {0};
    read_file(path, &bytes);
    assert_int_equal(bytes.length % sizeof(struct pleat_event), 0);
    size_t count = bytes.length / sizeof(struct pleat_event);
    assert_int_equal(pleat_array_reserve(events, count), 0);
    memcpy(events->items, bytes.text, bytes.length);
    events->count = count;
    pleat_string_finish(&bytes);
    return count;
}

static void apply(struct pleat_core *core, const struct pleat_events *events, size_t first)
{
    struct pleat_effects effects = {0};
    struct pleat_error err = {0};
    for (size_t i = first; i < events->count; i++) {
        effects.count = 0;
        if (pleat_core_apply(core, &events->items[i], &effects, &err))
            fail_msg("record %zu ('%s'): %s", i + 1, pleat_event_name(events->items[i].kind),
                     err.code ? err.text : "it changes nothing");
    }
    if (pleat_core_check(core, &err))
        fail_msg("%s", err.text);
    pleat_array_finish(&effects);
}

static void check_same(const struct pleat_replay_result *result, const char *path)
{
    if (result->different != result->records)
        fail_msg("%s: record %zu is decided otherwise", path, result->different + 1);
    assert_true(result->decisions > 0);
}

static void try_log(const char *path)
{
    struct pleat_events events = {0};
    struct pleat_replay_result result;
    struct pleat_core *core;
    struct pleat_error err = {0};
    size_t count = read_log(path, &events);
    assert_int_equal(pleat_core_create(&core), 0);
    apply(core, &events, 0);
    pleat_core_destroy(core);
    if (pleat_replay_policies(events.items, count, &result, &err))
        fail_msg("%s: %s", path, err.text);
    check_same(&result, path);
    pleat_array_finish(&events);
}

/* path: .../NAME-N.state */
static void try_state(const char *path)
{
    char log[400];
    struct pleat_events events = {0};
    struct pleat_string state = {0}, whole = {0}, again = {0};
    struct pleat_replay_result result;
    struct pleat_core *core;
    struct pleat_error err = {0};
    const char *number = strrchr(path, '-');
    assert_non_null(number);
    size_t records = strtoul(number + 1, NULL, 10);
    snprintf(log, sizeof(log), "%.*s.log", (int)(number - path), path);
    size_t count = read_log(log, &events);
    read_file(path, &state);
    assert_true(records > 0 && records < count);

    if (pleat_core_load(state.text, state.length, &core, &err))
        fail_msg("%s: %s", path, err.text);
    apply(core, &events, records);
    assert_int_equal(pleat_core_save(core, &again), 0);
    pleat_core_destroy(core);
    assert_int_equal(pleat_core_create(&core), 0);
    apply(core, &events, 0);
    assert_int_equal(pleat_core_save(core, &whole), 0);
    pleat_core_destroy(core);
    assert_int_equal(again.length, whole.length);
    assert_memory_equal(again.text, whole.text, whole.length);

    if (pleat_replay_policies_after(&state, events.items + records, count - records, &result, &err))
        fail_msg("%s: %s", path, err.text);
    check_same(&result, path);
    pleat_string_finish(&state);
    pleat_string_finish(&whole);
    pleat_string_finish(&again);
    pleat_array_finish(&events);
}

static void for_each(const char *pattern, size_t least, void (*try)(const char *path))
{
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= least);
    for (size_t i = 0; i < found.gl_pathc; i++)
        try(found.gl_pathv[i]);
    globfree(&found);
}

static void test_logs(void **state)
{
    (void)state;
    for_each(SOURCE_DIR "/tests/data/old-logs/*.log", 3, try_log);
}

static void test_saved_states(void **state)
{
    (void)state;
    for_each(SOURCE_DIR "/tests/data/old-logs/*.state", 2, try_state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logs),
        cmocka_unit_test(test_saved_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "sim/replay.h"

#include <string.h>

/* Makes one pass. 0; result->different is set if the policies decided differently. */
static int replay_pass(struct pleat_core *core, const struct pleat_event *records, size_t count,
                       size_t at, struct pleat_events *decisions, struct pleat_effects *effects,
                       struct pleat_replay_result *result, struct pleat_error *err)
{
    decisions->count = 0;
    int rc = pleat_core_pass(core, records[at].time_us, decisions, effects, err);
    if (rc)
        return rc;
    result->passes++;
    for (size_t i = 0; i < decisions->count; i++) {
        /* decisions have all their bytes set, so bytes may be compared */
        if (at + i < count && !memcmp(&decisions->items[i], &records[at + i], sizeof(*records)))
            continue;
        result->different = at + i;
        result->decided = decisions->items[i];
        return 0;
    }
    result->decisions += decisions->count - 1;
    return 0;
}

static int replay(struct pleat_core *core, const struct pleat_event *records, size_t count,
                  struct pleat_replay_result *result, struct pleat_error *err)
{
    struct pleat_events decisions = {0};
    struct pleat_effects effects = {0};
    memset(result, 0, sizeof(*result));
    result->records = result->different = count;
    int rc = 0;
    size_t i = 0;
    while (!rc && i < count && result->different == count) {
        if (records[i].kind == PLEAT_EV_PASS) {
            rc = replay_pass(core, records, count, i, &decisions, &effects, result, err);
            i += decisions.count;
        } else if (records[i].kind > PLEAT_EV_FIRST_DECISION) {
            result->different = i; /* a logged decision was not made this time */
        } else {
            struct pleat_error why = {0};
            rc = pleat_core_apply(core, &records[i], &effects, &why);
            if (rc)
                rc = pleat_error_set(err, rc == PLEAT_E_NOMEM ? rc : PLEAT_E_CORRUPT,
                                     "record %zu ('%s') cannot be applied: %.300s", i,
                                     pleat_event_name(records[i].kind),
                                     rc > 0 ? "it changes nothing" : why.text);
            i++;
        }
        effects.count = 0;
    }
    pleat_array_finish(&decisions);
    pleat_array_finish(&effects);
    return rc;
}

int pleat_replay_policies(const struct pleat_event *records, size_t count,
                          struct pleat_replay_result *result, struct pleat_error *err)
{
    struct pleat_core *core;
    if (pleat_core_create(&core))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    int rc = replay(core, records, count, result, err);
    pleat_core_destroy(core);
    return rc;
}

int pleat_replay_policies_after(const struct pleat_string *state, const struct pleat_event *records,
                                size_t count, struct pleat_replay_result *result,
                                struct pleat_error *err)
{
    struct pleat_core *core;
    int rc = pleat_core_load(state->text, state->length, &core, err);
    if (rc)
        return rc;
    rc = replay(core, records, count, result, err);
    pleat_core_destroy(core);
    return rc;
}

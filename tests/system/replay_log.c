/* replay-log LOG [--corrupt N] - is a log that pleatd recorded what its policies decide?
 *
 * First as a recovery does (inputs and decisions applied to a new core, which is then recounted),
 * then again from the inputs alone, with the policies asked at every pass; each decision must be
 * the logged one, byte for byte. --corrupt N changes the N-th decision (from 1) of the copy in
 * memory: that must be found. The daemon must not run, or LOG be a copy.
 *
 * Exit status: 0 the same; 1 different; 2 wrong usage, or the log cannot be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/replay.h"
#include "store/store.h"

static int fail(const char *what, const struct pleat_error *err)
{
    fprintf(stderr, "replay-log: %s: %s\n", what, err->text);
    return 2;
}

static int add_record(void *arg, int64_t seq, const void *record)
{
    struct pleat_events *records = arg;
    (void)seq;
    return pleat_array_push(records, *(const struct pleat_event *)record) ? PLEAT_E_NOMEM : 0;
}

static int read_log(const char *path, struct pleat_events *records, struct pleat_error *err)
{
    struct pleat_store *store;
    int rc = pleat_store_open(path, sizeof(struct pleat_event), &store, err);
    if (rc)
        return rc;
    rc = pleat_store_read(store, 1, add_record, records, err);
    pleat_store_close(store);
    return rc;
}

/* (a) as a recovery does. */
static int apply_all(const struct pleat_events *records, struct pleat_error *err)
{
    struct pleat_core *core;
    struct pleat_effects effects = {0};
    if (pleat_core_create(&core))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    int rc = 0;
    for (size_t i = 0; !rc && i < records->count; i++) {
        effects.count = 0;
        rc = pleat_core_apply(core, &records->items[i], &effects, err);
        if (rc > 0)
            rc = pleat_error_set(err, PLEAT_E_CORRUPT, "it changes nothing");
        if (rc)
            pleat_error_prefix(err, rc, "record %zu ('%s') cannot be applied", i + 1,
                               pleat_event_name(records->items[i].kind));
    }
    if (!rc)
        rc = pleat_core_check(core, err);
    pleat_array_finish(&effects);
    pleat_core_destroy(core);
    return rc;
}

/* Changes the n-th decision: where a job starts or is resized, its size; else the first byte. */
static int corrupt(struct pleat_events *records, long n)
{
    for (size_t i = 0; i < records->count; i++) {
        struct pleat_event *record = &records->items[i];
        if (record->kind <= PLEAT_EV_FIRST_DECISION || --n > 0)
            continue;
        record->u.bytes[record->kind == PLEAT_EV_RESIZE  ? 8
                        : record->kind == PLEAT_EV_START ? 4
                                                         : 0] ^= 1;
        return 0;
    }
    return -1;
}

static void print_event(const char *what, const struct pleat_event *event)
{
    printf("%s: %s at %lld us, component %u, flags %u,", what,
           event->kind ? pleat_event_name(event->kind) : "nothing", (long long)event->time_us,
           event->component, event->flags);
    for (size_t i = 0; i < sizeof(event->u.bytes); i++)
        printf("%s%02x", i % 4 ? "" : " ", event->u.bytes[i]);
    printf("\n");
}

/* (b) the inputs again, decided again. */
static int decide_again(const struct pleat_events *records)
{
    struct pleat_replay_result result;
    struct pleat_error err = {0};
    if (pleat_replay_policies(records->items, records->count, &result, &err))
        return fail("replay", &err);
    printf("records %zu, passes %zu, decisions %zu\n", result.records, result.passes,
           result.decisions);
    if (result.different == result.records) {
        printf("the same\n");
        return 0;
    }
    printf("different at record %zu\n", result.different + 1);
    if (result.different < records->count)
        print_event("logged", &records->items[result.different]);
    print_event("decided", &result.decided);
    return 1;
}

int main(int argc, char **argv)
{
    struct pleat_events records = {0};
    struct pleat_error err = {0};
    bool changes = argc == 4 && !strcmp(argv[2], "--corrupt");
    if (argc != 2 && !changes) {
        fprintf(stderr, "usage: replay-log LOG [--corrupt N]\n");
        return 2;
    }
    int code;
    if (read_log(argv[1], &records, &err))
        code = fail(argv[1], &err);
    else if (!changes && apply_all(&records, &err))
        code = fail("recovery", &err);
    else if (changes && corrupt(&records, strtol(argv[3], NULL, 10)))
        code = (fprintf(stderr, "replay-log: there are fewer decisions than that\n"), 2);
    else
        code = decide_again(&records);
    pleat_array_finish(&records);
    return code;
}

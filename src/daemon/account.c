#include "daemon/account.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void account_finish(struct account *account)
{
    pleat_array_finish(&account->sizes);
    pleat_array_finish(&account->changes);
    pleat_array_finish(&account->usages);
    json_decref(account->checkpoint);
    json_decref(account->buffer);
    free(account->text);
    memset(account, 0, sizeof(*account));
}

/* ---- sums ---- */

/* The resize that is under way; NULL: none. There is at most one, and it is the last. */
static struct change *under_way(struct account *account)
{
    size_t count = account->changes.count;
    struct change *last = count ? &account->changes.items[count - 1] : NULL;
    return last && !last->outcome[0] ? last : NULL;
}

/* Number of processors that the job holds. The processors of a growth count from when the site gave
 * them, those of a shrink until the job has left them. */
static int32_t held(const struct account *account, const struct change *change)
{
    if (!account->runs)
        return 0;
    if (!change || !change->granted)
        return account->applied;
    return change->from > change->to ? change->from : change->to;
}

static void add_usage(struct account *account, int32_t processors, int64_t us)
{
    size_t i = account->usages.count;
    while (i > 0 && account->usages.items[i - 1].processors > processors)
        i--;
    if (i > 0 && account->usages.items[i - 1].processors == processors) {
        account->usages.items[i - 1].us += us;
        return;
    }
    struct usage fresh = {processors, us};
    if (pleat_array_push(&account->usages, fresh))
        return;
    memmove(&account->usages.items[i + 1], &account->usages.items[i],
            (account->usages.count - 1 - i) * sizeof(fresh));
    account->usages.items[i] = fresh;
}

void account_until(struct account *account, int64_t time_us)
{
    struct change *change = under_way(account);
    int32_t processors = held(account, change);
    if (time_us <= account->since_us)
        return;
    if (processors > 0) {
        add_usage(account, processors, time_us - account->since_us);
        if (change)
            change->held_us += processors * (time_us - account->since_us);
    }
    account->since_us = time_us;
}

/* Processor-microseconds held, up to `since_us`. */
static int64_t held_us_of(const struct account *account)
{
    int64_t sum = 0;
    for (size_t i = 0; i < account->usages.count; i++)
        sum += account->usages.items[i].processors * account->usages.items[i].us;
    return sum;
}

/* ---- learning ---- */

static int64_t us_of(const json_t *data, const char *name)
{
    const json_t *value = json_object_get(data, name);
    return json_is_number(value) ? llround(json_number_value(value) * 1e6) : 0;
}

static struct change *find_change(struct account *account, int64_t resize)
{
    for (size_t i = account->changes.count; i > 0; i--)
        if (account->changes.items[i - 1].resize == resize)
            return &account->changes.items[i - 1];
    return NULL;
}

const struct change *account_change(const struct account *account, int64_t resize)
{
    return find_change((struct account *)(uintptr_t)account, resize);
}

static struct change *change_of(struct account *account, int64_t resize, int64_t time_us)
{
    struct change *known = find_change(account, resize);
    struct change fresh = {.resize = resize, .begun_us = time_us, .waiter = -1};
    if (known)
        return known;
    if (pleat_array_push(&account->changes, fresh))
        return NULL;
    return &account->changes.items[account->changes.count - 1];
}

bool account_cost(struct account *account, int64_t resize, const struct change_cost *cost)
{
    struct change *change = find_change(account, resize);
    if (!change || change->has_cost)
        return false;
    change->has_cost = true;
    change->wait_us = cost->wait_us;
    change->processes_us = cost->processes_us;
    change->redistribute_us = cost->redistribute_us;
    change->total_us = cost->total_us;
    change->bytes = cost->bytes;
    change->instead = cost->instead;
    if (cost->way != PLEAT_WAY_AUTO)
        change->way = cost->way;
    return true;
}

/* Whether a resize with this outcome failed because of the way in which it was done. */
static bool has_failed(const char *outcome)
{
    static const enum pleat_outcome failures[] = {PLEAT_OUTCOME_APP_FAILED, PLEAT_OUTCOME_STUCK,
                                                  PLEAT_OUTCOME_RELAUNCHED};
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
        if (!strcmp(outcome, pleat_outcome_name(failures[i])))
            return true;
    return false;
}

int account_add_ways(const struct account *account, struct way_samples *samples)
{
    for (size_t i = 0; i < account->changes.count; i++) {
        const struct change *change = &account->changes.items[i];
        struct pleat_way_sample sample = {.way = change->way,
                                          .grows = change->to > change->from,
                                          .failed = has_failed(change->outcome),
                                          .pause_us = change->total_us,
                                          .bytes = change->bytes};
        if (!strcmp(change->reason, ACCOUNT_OVER_NODES))
            continue;
        const struct pleat_way_sample could_not = {
            .way = PLEAT_WAY_RELAUNCH, .grows = sample.grows, .failed = true};
        if (change->instead && pleat_array_push(samples, could_not))
            return PLEAT_E_NOMEM;
        bool tells = (sample.way == PLEAT_WAY_MERGE || sample.way == PLEAT_WAY_RELAUNCH) &&
                     (sample.failed || (change->has_cost && change->total_us > 0));
        if (tells && pleat_array_push(samples, sample))
            return PLEAT_E_NOMEM;
    }
    return 0;
}

static void learn_way(struct change *change, const json_t *data)
{
    const char *way = json_string_value(json_object_get(data, "way"));
    const char *reason = json_string_value(json_object_get(data, "way_reason"));
    if (way && pleat_resize_way_parse(way, &change->way, NULL))
        change->way = PLEAT_WAY_AUTO;
    if (reason)
        snprintf(change->reason, sizeof(change->reason), "%s", reason);
}

static void learn_resize(struct account *account, int64_t time_us, const json_t *data)
{
    struct change *change =
        change_of(account, json_integer_value(json_object_get(data, "resize")), time_us);
    if (!change)
        return;
    change->from = (int32_t)json_integer_value(json_object_get(data, "from"));
    change->to = (int32_t)json_integer_value(json_object_get(data, "to"));
    change->mandatory = json_is_true(json_object_get(data, "mandatory"));
    const char *by = json_string_value(json_object_get(data, "by"));
    snprintf(change->by, sizeof(change->by), "%s", by ? by : "policy");
    const json_t *waiter = json_object_get(data, "waiter");
    if (json_is_integer(waiter))
        change->waiter = json_integer_value(waiter);
    const char *step = json_string_value(json_object_get(data, "step"));
    if (step && !strcmp(step, pleat_resize_step_name(PLEAT_RESIZE_GRANTED)))
        change->granted = true;
    learn_way(change, data);
    const struct change_cost cost = {
        .wait_us = us_of(data, "wait_s"),
        .processes_us = us_of(data, "processes_s"),
        .redistribute_us = us_of(data, "redistribute_s"),
        .total_us = us_of(data, "total_s"),
        .bytes = json_integer_value(json_object_get(data, "bytes")),
        .instead = json_object_get(data, "instead"),
    };
    if (json_object_get(data, "total_s"))
        (void)account_cost(account, change->resize, &cost);
    const char *outcome = json_string_value(json_object_get(data, "outcome"));
    if (outcome) {
        snprintf(change->outcome, sizeof(change->outcome), "%s", outcome);
        change->end_us = time_us;
    }
}

static void learn_size(struct account *account, int64_t time_us, int32_t processors)
{
    struct sized sized = {time_us, processors};
    account->runs = true;
    account->applied = processors;
    (void)!pleat_array_push(&account->sizes, sized);
}

/* A job does not run any more once it has ended or waits again. Until then it holds its processors.
 */
static void learn_state(struct account *account, const json_t *data)
{
    const char *to = json_string_value(json_object_get(data, "to"));
    static const enum pleat_component_state over[] = {PLEAT_QUEUED, PLEAT_DONE, PLEAT_FAILED,
                                                      PLEAT_CANCELLED};
    for (size_t i = 0; to && i < sizeof(over) / sizeof(over[0]); i++)
        if (!strcmp(to, pleat_component_state_name(over[i])))
            account->runs = account->ended_early = account->text_of_end = false;
    json_t *buffer = json_object_get(data, "buffer");
    if (json_is_object(buffer)) {
        json_decref(account->buffer);
        account->buffer = json_incref(buffer);
    }
    const char *why = json_string_value(json_object_get(data, "reason"));
    if (why && !strcmp(why, pleat_reason_name(PLEAT_REASON_REQUEUED))) /* its user wants it anew */
        account->goes_on = false;
    const char *from = json_string_value(json_object_get(data, "from"));
    bool started = to && from && !strcmp(to, pleat_component_state_name(PLEAT_RUNNING)) &&
                   !strcmp(from, pleat_component_state_name(PLEAT_CLAIMING));
    /* the problem has been overcome; the warning stays among the job's events */
    if ((started && !account->text_of_end) ||
        (to && !strcmp(to, pleat_component_state_name(PLEAT_DONE)))) {
        free(account->text);
        account->text = NULL;
    }
    if (started)
        account->ended_early = account->text_of_end = false;
}

static void learn_most(int64_t *most, const json_t *data, const char *name)
{
    int64_t value = json_integer_value(json_object_get(data, name));
    if (value > *most)
        *most = value;
}

/* Takes the number out of the name of a regular checkpoint's file. */
static void learn_place(struct account *account, const char *path)
{
    const char *name = path ? strrchr(path, '/') : NULL;
    long long job;
    int place = 0, length = 0;
    if (name && sscanf(name, "/pleat-%lld.%d.checkpoint%n", &job, &place, &length) == 2 &&
        length > 0 && !name[length] && place > 0)
        account->checkpoint_place = place;
}

/* A checkpoint was written, or could not be. */
static void learn_checkpoint(struct account *account, int64_t time_us, const json_t *data)
{
    learn_most(&account->checkpoint_last, data, "checkpoint");
    if (json_object_get(data, "text"))
        return;
    learn_place(account, json_string_value(json_object_get(data, "path")));
    json_decref(account->checkpoint);
    account->checkpoint = json_deep_copy(data);
    account->goes_on = true;
    json_object_set_new(account->checkpoint, "time_s", json_real((double)time_us / 1e6));
    if (!json_is_true(json_object_get(data, "stop")))
        return;
    struct pleat_string text = {0};
    pleat_string_addf(&text, "stopped with a checkpoint: pleat run --from %s goes on from it",
                      json_string_value(json_object_get(data, "path")));
    free(account->text);
    account->text = text.text ? strdup(text.text) : NULL;
    pleat_string_finish(&text);
}

void account_note(struct account *account, const char *kind, int64_t time_us, const json_t *data)
{
    account_until(account, time_us);
    if (!strcmp(kind, "resize")) {
        learn_resize(account, time_us, data);
    } else if (!strcmp(kind, "size")) {
        learn_size(account, time_us,
                   (int32_t)json_integer_value(json_object_get(data, "processors")));
    } else if (!strcmp(kind, "state")) {
        learn_state(account, data);
    } else if (!strcmp(kind, "used")) {
        account->ended_early = !account->runs;
        account->has_cpu = true;
        account->cpu_us += us_of(data, "cpu_s");
        learn_most(&account->max_rss_kb, data, "max_rss_kb");
        learn_most(&account->memory_kb, data, "memory_kb");
    } else if (!strcmp(kind, "memory")) {
        learn_most(&account->memory_kb, data, "memory_kb");
    } else if (!strcmp(kind, "checkpoint")) {
        learn_checkpoint(account, time_us, data);
    } else if (!strcmp(kind, "warning") && !json_object_get(data, "resize")) {
        /* a warning about a resize does not outlive the resize, so it is not kept */
        const char *text = json_string_value(json_object_get(data, "text"));
        free(account->text);
        account->text = text ? strdup(text) : NULL;
        account->text_of_end = account->ended_early;
    }
}

/* ---- telling ---- */

static json_t *seconds(int64_t us)
{
    return json_real((double)us / 1e6);
}

/* Time that resizes cost the job's processes, summed over all resizes. */
static int64_t spent_us(const struct account *account)
{
    int64_t sum = 0;
    for (size_t i = 0; i < account->changes.count; i++)
        sum += account->changes.items[i].total_us;
    return sum;
}

static void add_memory(const struct account *account, json_t *object)
{
    json_object_set_new(object, "memory_kb",
                        account->memory_kb > 0 ? json_integer(account->memory_kb) : json_null());
    json_object_set_new(object, "max_rss_kb",
                        account->max_rss_kb > 0 ? json_integer(account->max_rss_kb) : json_null());
}

void account_add_counts(const struct account *account, json_t *object)
{
    int grown = 0, shrunk = 0, failed = 0;
    for (size_t i = 0; i < account->changes.count; i++) {
        const struct change *change = &account->changes.items[i];
        bool relaunched = !strcmp(change->outcome, pleat_outcome_name(PLEAT_OUTCOME_RELAUNCHED));
        if (!strcmp(change->outcome, pleat_outcome_name(PLEAT_OUTCOME_GROWN)) ||
            (relaunched && change->to > change->from))
            grown++;
        else if (!strcmp(change->outcome, pleat_outcome_name(PLEAT_OUTCOME_SHRUNK)) ||
                 (relaunched && change->to < change->from))
            shrunk++;
        else if (change->outcome[0])
            failed++;
    }
    json_object_set_new(object, "grown", json_integer(grown));
    json_object_set_new(object, "shrunk", json_integer(shrunk));
    json_object_set_new(object, "failed_resizes", json_integer(failed));
    json_object_set_new(object, "resize_s", seconds(spent_us(account)));
    add_memory(account, object);
    json_object_set_new(object, "checkpoint",
                        account->checkpoint ? json_incref(account->checkpoint) : json_null());
    json_object_set_new(object, "text", account->text ? json_string(account->text) : json_null());
}

static json_t *change_to_json(const struct change *c)
{
    json_t *one =
        json_pack("{s:I, s:i, s:i, s:b, s:s, s:o, s:o, s:f, s:o}", "resize", (json_int_t)c->resize,
                  "from", c->from, "to", c->to, "mandatory", c->mandatory, "by", c->by, "waiter",
                  c->waiter < 0 ? json_null() : json_integer(c->waiter), "outcome",
                  c->outcome[0] ? json_string(c->outcome) : json_null(), "begun_s",
                  (double)c->begun_us / 1e6, "end_s", c->end_us ? seconds(c->end_us) : json_null());
    bool known = c->has_cost;
    json_object_set_new(one, "wait_s", known ? seconds(c->wait_us) : json_null());
    json_object_set_new(one, "processes_s", known ? seconds(c->processes_us) : json_null());
    json_object_set_new(one, "redistribute_s", known ? seconds(c->redistribute_us) : json_null());
    json_object_set_new(one, "total_s", known ? seconds(c->total_us) : json_null());
    json_object_set_new(one, "bytes", known ? json_integer(c->bytes) : json_null());
    json_object_set_new(one, "way",
                        c->way == PLEAT_WAY_AUTO ? json_null()
                                                 : json_string(pleat_resize_way_name(c->way)));
    json_object_set_new(one, "way_reason", c->reason[0] ? json_string(c->reason) : json_null());
    return one;
}

json_t *account_to_history(const struct account *account)
{
    json_t *sizes = json_array(), *resizes = json_array();
    for (size_t i = 0; i < account->sizes.count; i++)
        json_array_append_new(sizes, json_pack("{s:f, s:i}", "time_s",
                                               (double)account->sizes.items[i].time_us / 1e6,
                                               "processors", account->sizes.items[i].processors));
    for (size_t i = 0; i < account->changes.count; i++)
        json_array_append_new(resizes, change_to_json(&account->changes.items[i]));
    return json_pack("{s:o, s:o}", "sizes", sizes, "resizes", resizes);
}

static json_t *use_of_change(const struct account *account, const struct change *c)
{
    int64_t end_us = c->end_us ? c->end_us : account->since_us;
    return json_pack("{s:I, s:i, s:i, s:o, s:s, s:f, s:o, s:f, s:f}", "resize",
                     (json_int_t)c->resize, "from", c->from, "to", c->to, "outcome",
                     c->outcome[0] ? json_string(c->outcome) : json_null(), "by", c->by, "begun_s",
                     (double)c->begun_us / 1e6, "end_s",
                     c->end_us ? seconds(c->end_us) : json_null(), "seconds",
                     (double)(end_us - c->begun_us) / 1e6, "processor_s", (double)c->held_us / 1e6);
}

void account_add_use(const struct account *account, json_t *object)
{
    json_t *sizes = json_array(), *resizes = json_array();
    for (size_t i = 0; i < account->usages.count; i++) {
        const struct usage *usage = &account->usages.items[i];
        json_array_append_new(sizes, json_pack("{s:i, s:f, s:f}", "processors", usage->processors,
                                               "seconds", (double)usage->us / 1e6, "processor_s",
                                               (double)(usage->processors * usage->us) / 1e6));
    }
    for (size_t i = 0; i < account->changes.count; i++)
        json_array_append_new(resizes, use_of_change(account, &account->changes.items[i]));
    json_object_set_new(object, "processor_s", seconds(held_us_of(account)));
    json_object_set_new(object, "resize_s", seconds(spent_us(account)));
    json_object_set_new(object, "cpu_s", account->has_cpu ? seconds(account->cpu_us) : json_null());
    add_memory(account, object);
    json_object_set_new(object, "sizes", sizes);
    json_object_set_new(object, "resizes", resizes);
}

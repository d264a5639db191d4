#include "agent/fold_tell.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "agent/fold_partition.h"
#include "agent/notify.h"
#include "agent/outcomes.h"

#define TELL_US INT64_C(1000000)
/* Least time between two notifications while processes attach. It is short, since a user may wait
 * until all have attached before changing the job. */
#define TELL_SOON_US INT64_C(100000)
/* Smaller changes of the idleness, or of the variation of switches, are not told. */
#define NEWS 0.02
/* A longer list of CPUs is left out. */
#define CPUS_TEXT_MAX 1024

static const char *const queue_by[] = {[PLEAT_QUEUE_BY_DEFAULT] = "default",
                                       [PLEAT_QUEUE_BY_USER] = "user",
                                       [PLEAT_QUEUE_BY_DETECTOR] = "detector"};
static const char *const boosts[] = {
    [PLEAT_BOOST_OFF] = "off", [PLEAT_BOOST_ON] = "on", [PLEAT_BOOST_REFUSED] = "refused"};

static json_t *share(double value)
{
    return value >= 0 ? json_real(value) : json_null();
}

static json_t *time_or_null(int64_t us)
{
    return us >= 0 ? json_integer((json_int_t)us) : json_null();
}

static json_t *describe(const struct pleat_folded *folded)
{
    const struct pleat_detector *detector = &folded->detector;
    uint32_t processes = folded->asked.processes;
    uint32_t processors = (uint32_t)folded->cpus.count;
    bool judged = folded->judged != 0;
    struct pleat_string cpus = {0};
    pleat_cpu_list_text(&folded->cpus, &cpus);
    json_t *params = json_pack(
        "{s:I, s:I, s:I, s:b, s:I, s:I, s:I, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:s, s:I, "
        "s:s, s:o, s:o, s:s?, s:b}",
        "run", (json_int_t)folded->run->id, "processes", (json_int_t)processes, "attached",
        (json_int_t)folded->attached, "begun", folded->attached_us != 0, "refused",
        (json_int_t)folded->refused, "processors", (json_int_t)processors, "mpl",
        (json_int_t)((processes + processors - 1) / processors), "share",
        pleat_fold_share_name((enum pleat_fold_share)folded->settings.share), "queue",
        pleat_fold_queue_name(folded->settings.queue), "queue_by", queue_by[folded->queue_by],
        "balance", pleat_balance_name(judged ? detector->balance : PLEAT_BALANCE_UNKNOWN),
        "idleness", share(judged ? detector->idleness : -1), "gain",
        share(judged ? detector->gain : -1), "cvcs", share(judged ? detector->cvcs : -1), "wait",
        pleat_fold_wait_name(folded->settings.wait), "next",
        pleat_fold_next_name(folded->settings.next), "contended", (json_int_t)folded->contended,
        "boost", boosts[folded->boost], "rate", share(folded->rate.rate), "change_us",
        time_or_null(folded->rate.change_us), "cpus",
        !cpus.failed && cpus.length <= CPUS_TEXT_MAX ? cpus.text : NULL, "chosen",
        folded->run->agent->granted.chosen);
    pleat_string_finish(&cpus);
    return params;
}

/* Adds counters that always grow. They are in every notification, but are no reason to send one. */
static int add_counts(const struct pleat_folded *folded, json_t *params)
{
    double useful_s = (double)pleat_folded_useful_ns(folded) / 1e9;
    uint64_t switches = 0;
    for (uint32_t i = 0; i < folded->asked.processes; i++)
        switches += folded->members[i].pid ? folded->seen[i].switches : 0;
    return json_object_set_new(params, "useful_s", json_real(useful_s)) |
           json_object_set_new(params, "switches", pleat_outcome_number(switches));
}

static bool is_close(const json_t *a, const json_t *b)
{
    return json_is_real(a) && json_is_real(b) &&
           fabs(json_real_value(a) - json_real_value(b)) < NEWS;
}

static bool is_news(const json_t *before, json_t *now)
{
    const char *name;
    json_t *value;
    if (!before)
        return true;
    json_object_foreach(now, name, value)
    {
        const json_t *old = json_object_get(before, name);
        /* the rate only moves when its change is worth telling (rate.h) */
        bool own = strcmp(name, "rate") == 0;
        if (!json_equal(old, value) && (own || !is_close(old, value)))
            return true;
    }
    return false;
}

static void tell(const struct pleat_folded *folded, const json_t *what)
{
    json_t *params = json_copy((json_t *)(uintptr_t)what); /* json_copy only reads */
    if (params && add_counts(folded, params)) {
        json_decref(params);
        params = NULL;
    }
    pleat_agent_notify(folded->run->agent, "folded", params);
}

static int64_t pause_us(const struct pleat_folded *folded)
{
    json_int_t attached = json_integer_value(json_object_get(folded->told, "attached"));
    return attached < (json_int_t)folded->asked.processes ? TELL_SOON_US : TELL_US;
}

void pleat_folded_tell(struct pleat_folded *folded, int64_t now_us)
{
    if (!folded->fold || (folded->told && now_us - folded->told_us < pause_us(folded)))
        return;
    json_t *now = describe(folded);
    if (!now || !is_news(folded->told, now)) {
        json_decref(now);
        return;
    }
    json_decref(folded->told);
    folded->told = now;
    folded->told_us = now_us;
    tell(folded, now);
}

void pleat_folded_report(const struct pleat_folded *folded)
{
    if (folded->told)
        tell(folded, folded->told);
}

int pleat_folded_describe(const struct pleat_folded *folded, json_t *run)
{
    return json_object_set_new(run, "processes",
                               json_integer((json_int_t)folded->asked.processes)) |
           json_object_set_new(run, "processors", json_integer((json_int_t)folded->cpus.count));
}

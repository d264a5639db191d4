#include "site/batch_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "wire/message.h"
#include "wire/reply.h"

/* What could not be asked is asked again after AGAIN_US. The agent of an allocation that was there
 * before pleatd may live: it calls within CALLS_US. */
#define AGAIN_US INT64_C(2000000)
#define CALLS_US INT64_C(10000000)

static void on_time(void *arg, uint64_t number);

static int64_t now_us(const struct pleat_batch_site *site)
{
    return site->host->now_us(site->host->arg);
}

void pleat_batch_look_later(struct pleat_batch_site *site, const struct pleat_batch_allocation *one,
                            int64_t delay_us)
{
    site->host->later(site->host->arg, delay_us, on_time, site, one->number);
}

/* The claim that it was asked for comes to nothing. */
static void refuse(struct pleat_batch_site *site, const struct pleat_batch_allocation *one,
                   enum pleat_reason why)
{
    pleat_batch_say_claim(site, PLEAT_EV_CLAIM_FAILED, one->wish.id, one->wish.index, 0, why);
}

static bool is_unreachable(int code)
{
    return code == PLEAT_E_CLOSED || code == PLEAT_E_TIMEOUT;
}

/* ---- giving back ---- */

static void finish_end(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    if (one->answers)
        pleat_batch_say_claim(site, PLEAT_EV_RELEASED, one->wish.id, one->wish.index, 0,
                              PLEAT_REASON_NONE);
    pleat_batch_say_gone(site, one);
    pleat_batch_remove(site, one);
}

static void on_released(void *arg, uint64_t number, const json_t *result,
                        const struct pleat_error *wrong)
{
    struct pleat_batch_site *site = arg;
    struct pleat_batch_allocation *one = pleat_batch_of_number(site, number);
    if (!one)
        return;
    one->releasing = false;
    if (result) {
        finish_end(site, one);
        return;
    }
    if (!is_unreachable(wrong->code))
        pleat_batch_say(site, "job %" PRIu32 " cannot be ended: %.400s", one->job, wrong->text);
    pleat_batch_look_later(site, one, AGAIN_US);
}

static void ask_to_release(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    if (!one->job || one->releasing || !site->synced)
        return; /* it is not known yet whether there is something to release */
    one->releasing = true;
    pleat_batch_adapter_ask(site->adapter, "release",
                            json_pack("{sIss}", "job", (json_int_t)one->job, "name", one->name),
                            on_released, one->number);
}

void pleat_batch_end(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                     bool answers)
{
    enum pleat_batch_state before = one->state;
    one->answers = answers;
    one->asked = before == PLEAT_BATCH_ASKED;
    one->state = PLEAT_BATCH_ENDING;
    if (before == PLEAT_BATCH_WANTED)
        finish_end(site, one);
    else
        ask_to_release(site, one);
}

/* ---- lost ---- */

void pleat_batch_is_over(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                         const char *why)
{
    switch (one->state) {
    case PLEAT_BATCH_ENDING:
        finish_end(site, one);
        return;
    case PLEAT_BATCH_QUEUED:
        pleat_batch_say(site, "job %" PRIu32 " (%s) was ended in the queue: %.200s", one->job,
                        one->name, why);
        refuse(site, one, PLEAT_REASON_CLAIM_REFUSED);
        break;
    case PLEAT_BATCH_STARTING:
        pleat_batch_say(site, "the allocation %" PRIu32 " on %s ended before it was used: %.200s",
                        one->job, one->host, why);
        refuse(site, one, PLEAT_REASON_CLAIM_FAILED);
        break;
    case PLEAT_BATCH_HELD:
    case PLEAT_BATCH_ADOPTED:
        if (one->book.nodes && one->book.claims.count > 0)
            pleat_batch_say(site, "the allocation %" PRIu32 " on %s was ended by %s: %.200s",
                            one->job, one->host[0] ? one->host : "a node", site->kind->title, why);
        pleat_batch_say_lost(site, one);
        break;
    case PLEAT_BATCH_WANTED:
    case PLEAT_BATCH_ASKED:
    case PLEAT_BATCH_STRAY:
        break;
    }
    pleat_batch_say_gone(site, one);
    pleat_batch_remove(site, one);
}

void pleat_batch_lose(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                      const char *why)
{
    pleat_batch_say(site, "the allocation %" PRIu32 " on %s is given up: %.400s", one->job,
                    one->host, why);
    pleat_batch_say_lost(site, one);
    pleat_batch_end(site, one, false);
}

/* It was given, and is of no use. */
static void fail(struct pleat_batch_site *site, struct pleat_batch_allocation *one, const char *why)
{
    pleat_batch_say(site, "the allocation %" PRIu32 " on %s is given back: %.400s", one->job,
                    one->host, why);
    refuse(site, one, PLEAT_REASON_CLAIM_FAILED);
    pleat_batch_end(site, one, false);
}

/* ---- its agent ---- */

static void on_run(void *arg, uint64_t number, const json_t *result,
                   const struct pleat_error *wrong)
{
    struct pleat_batch_site *site = arg;
    struct pleat_batch_allocation *one = pleat_batch_of_number(site, number);
    if (!one || result || one->state != PLEAT_BATCH_STARTING)
        return;
    if (!is_unreachable(wrong->code)) {
        fail(site, one, wrong->text);
        return;
    }
    one->called = false;
    pleat_batch_look_later(site, one, AGAIN_US);
}

static void start_agent(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    struct pleat_agent_call call;
    struct pleat_error err;
    json_t *argv = json_array();
    if (one->called || !site->synced) {
        json_decref(argv);
        return;
    }
    if (site->host->agent_call(site->host->arg, site->index, one->node, &call, &err)) {
        json_decref(argv);
        fail(site, one, err.text);
        return;
    }
    one->called = true;
    for (size_t i = 0; call.argv[i]; i++)
        json_array_append_new(argv, pleat_json_text(call.argv[i]));
    json_t *params = json_pack("{sIsssoss}", "job", (json_int_t)one->job, "node", one->host, "argv",
                               argv, "input", call.input ? call.input : "");
    pleat_batch_adapter_ask(site->adapter, "run", params, on_run, one->number);
}

static void hold(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    const struct pleat_booked *booked = pleat_claimbook_find(&one->book, one->wish.id);
    one->state = PLEAT_BATCH_HELD;
    pleat_batch_announce(site, one, booked);
}

void pleat_batch_agent_is(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                          bool there)
{
    if (there && one->state == PLEAT_BATCH_STARTING)
        hold(site, one);
    else if (!there && one->state == PLEAT_BATCH_HELD && one->step_over)
        pleat_batch_lose(site, one, "its agent has ended");
}

void pleat_batch_step_is_over(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                              const json_t *how)
{
    char why[500];
    int code = pleat_reply_small(how, "code", -1, 255),
        signal = pleat_reply_small(how, "signal", 0, 255);
    snprintf(why, sizeof(why), "its agent has ended (%s %d)%s%.380s", signal ? "signal" : "code",
             signal ? signal : code, *pleat_reply_text(how, "text", "") ? ": " : "",
             pleat_reply_text(how, "text", ""));
    why[strcspn(why, "\n")] = '\0';
    one->step_over = true;
    if (one->state == PLEAT_BATCH_STARTING && one->called)
        fail(site, one, why);
    else if (one->state == PLEAT_BATCH_HELD && !pleat_batch_agent_is_there(site, one->node))
        pleat_batch_lose(site, one, why);
}

/* ---- given ---- */

/* The processors are there, on one node. */
static void take(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                 const json_t *job, bool asked_now)
{
    const json_t *nodes = pleat_reply_array(job, "nodes"), *node = json_array_get(nodes, 0);
    struct pleat_site_wish wish = one->wish;
    struct pleat_booked *booked;
    int32_t cpus = pleat_reply_small(node, "cpus", 0, PLEAT_BATCH_NODE_CPUS);
    snprintf(one->host, sizeof(one->host), "%s", pleat_reply_text(node, "name", ""));
    one->state = PLEAT_BATCH_STARTING;
    one->agent_until_us = now_us(site) + site->options->agent_us;
    if (json_array_size(nodes) != 1 || !one->host[0]) {
        fail(site, one, "it is not on one node");
        return;
    }
    if (cpus == 0)
        cpus = wish.count;
    if (wish.count > cpus)
        wish.count = cpus;
    wish.beside = 0;
    if (pleat_batch_open_book(one))
        abort();
    pleat_batch_trim_book(one, cpus);
    if (pleat_claimbook_take(&one->book, &wish, &booked))
        abort();
    one->given = true;
    pleat_batch_say_waits(site, one, PLEAT_WAIT_AGENTS, 0);
    pleat_batch_look_later(site, one, site->options->agent_us);
    if (pleat_batch_agent_is_there(site, one->node))
        hold(site, one);
    else if (asked_now)
        start_agent(site, one);
    else
        pleat_batch_look_later(site, one, CALLS_US);
}

/* The same for one of the pleatd before, whose claims are in its book. */
static void take_adopted(struct pleat_batch_allocation *one, const json_t *job)
{
    const json_t *node = json_array_get(pleat_reply_array(job, "nodes"), 0);
    int32_t cpus = pleat_reply_small(node, "cpus", 0, PLEAT_BATCH_NODE_CPUS);
    snprintf(one->host, sizeof(one->host), "%s", pleat_reply_text(node, "name", ""));
    if (one->book.nodes && cpus > 0)
        pleat_batch_trim_book(one, cpus);
    one->state = PLEAT_BATCH_HELD;
}

/* ---- waiting ---- */

static enum pleat_claim_wait wait_of(const struct pleat_batch_site *site, const char *reason)
{
    for (const struct pleat_batch_wait *row = site->kind->waits; row->part; row++)
        if (strstr(reason, row->part))
            return row->means;
    return PLEAT_WAIT_OTHER;
}

static void wait_in_queue(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                          const json_t *job)
{
    const char *reason = pleat_reply_text(job, "reason", "");
    one->state = PLEAT_BATCH_QUEUED;
    if (pleat_reply_true(job, "never")) {
        pleat_batch_say(site, "%s can never give %d processors on one node: %.100s",
                        site->kind->title, one->wish.count, reason);
        refuse(site, one, PLEAT_REASON_CLAIM_CANNOT);
        pleat_batch_end(site, one, false);
        return;
    }
    pleat_batch_say_waits(site, one, wait_of(site, reason), pleat_reply_int(job, "start", 0));
}

void pleat_batch_job_is(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                        const json_t *job)
{
    bool runs = pleat_reply_is(job, "state", "running");
    bool asked_now = one->state == PLEAT_BATCH_ASKED || one->state == PLEAT_BATCH_QUEUED;
    one->job = (uint32_t)pleat_reply_int(job, "job", 0);
    snprintf(one->name, sizeof(one->name), "%s", pleat_reply_text(job, "name", ""));
    switch (one->state) {
    case PLEAT_BATCH_WANTED:
    case PLEAT_BATCH_ASKED:
    case PLEAT_BATCH_QUEUED:
        if (runs)
            take(site, one, job, asked_now);
        else
            wait_in_queue(site, one, job);
        break;
    case PLEAT_BATCH_ADOPTED:
        if (runs)
            take_adopted(one, job);
        else
            pleat_batch_lose(site, one, "it is in the queue again");
        break;
    case PLEAT_BATCH_ENDING:
        ask_to_release(site, one);
        break;
    case PLEAT_BATCH_STARTING:
    case PLEAT_BATCH_HELD:
    case PLEAT_BATCH_STRAY:
        break;
    }
}

/* ---- asking ---- */

static void on_asked(void *arg, uint64_t number, const json_t *result,
                     const struct pleat_error *wrong)
{
    struct pleat_batch_site *site = arg;
    struct pleat_batch_allocation *one = pleat_batch_of_number(site, number);
    if (!one)
        return;
    bool unwanted = one->state == PLEAT_BATCH_ENDING;
    one->asked = false;
    if (result) {
        pleat_batch_job_is(site, one, result);
    } else if (unwanted) {
        finish_end(site, one);
    } else if (is_unreachable(wrong->code)) {
        one->state = PLEAT_BATCH_WANTED;
        pleat_batch_say_waits(site, one, PLEAT_WAIT_UNREACHED, 0);
        pleat_batch_look_later(site, one, AGAIN_US);
    } else {
        bool never = wrong->code == PLEAT_E_INVALID || wrong->code == PLEAT_E_PERMISSION;
        if (wrong->code != PLEAT_E_BUSY)
            pleat_batch_say(site, "no allocation: %.400s", wrong->text);
        refuse(site, one,
               never                         ? PLEAT_REASON_CLAIM_CANNOT
               : wrong->code == PLEAT_E_BUSY ? PLEAT_REASON_CLAIM_REFUSED
                                             : PLEAT_REASON_CLAIM_FAILED);
        pleat_batch_remove(site, one);
    }
}

void pleat_batch_begin(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    const struct pleat_batch_options *options = site->options;
    char name[PLEAT_BATCH_NAME_ROOM];
    if (one->state != PLEAT_BATCH_WANTED)
        return;
    if (!site->synced) {
        pleat_batch_say_waits(site, one, PLEAT_WAIT_UNREACHED, 0);
        return;
    }
    if (!one->has_node)
        pleat_batch_number_node(site, one);
    one->state = PLEAT_BATCH_ASKED;
    snprintf(name, sizeof(name), "%s%" PRIu32 ":%" PRIu64, site->prefix, one->node, one->wish.id);
    json_t *params =
        json_pack("{sssIsi}", "name", name, "count", (json_int_t)one->wish.count, "nodes", 1);
    site->kind->wish(options, params);
    if (options->limit_us > 0)
        json_object_set_new(params, "minutes",
                            json_integer((options->limit_us + 59999999) / 60000000));
    if (options->memory_mb > 0)
        json_object_set_new(params, "memory_mb", json_integer(options->memory_mb));
    pleat_batch_adapter_ask(site->adapter, "allocate", params, on_asked, one->number);
}

/* ---- time ---- */

static void on_time(void *arg, uint64_t number)
{
    struct pleat_batch_site *site = arg;
    struct pleat_batch_allocation *one = pleat_batch_of_number(site, number);
    if (!one)
        return;
    if (one->state == PLEAT_BATCH_WANTED && site->synced)
        pleat_batch_begin(site, one);
    else if (one->state == PLEAT_BATCH_STARTING && now_us(site) >= one->agent_until_us)
        fail(site, one,
             "no agent has called from there in time (agent_s): can that node reach "
             "this one (agent_listen, agent_host)?");
    else if (one->state == PLEAT_BATCH_STARTING)
        start_agent(site, one);
    else if (one->state == PLEAT_BATCH_ENDING)
        ask_to_release(site, one);
    else if (one->state == PLEAT_BATCH_STRAY)
        pleat_batch_end(site, one, false);
}

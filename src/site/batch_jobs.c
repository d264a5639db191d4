#include "site/batch_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/message.h"
#include "wire/reply.h"

/* What could not be asked is asked again after AGAIN_US. The agent of an allocation that was there
 * before pleatd may live: it calls within CALLS_US. */
#define AGAIN_US INT64_C(2000000)
#define CALLS_US INT64_C(10000000)
/* One that was cut off calls again by then: it notices that after 30 s, and pauses up to 5 s. */
#define BACK_US INT64_C(40000000)

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
        pleat_batch_tell(site, one, NULL,
                         "%s ended its request %" PRIu32 " while it waited there: %.200s",
                         site->kind->title, one->job, why);
        refuse(site, one, PLEAT_REASON_CLAIM_REFUSED);
        break;
    case PLEAT_BATCH_STARTING:
        pleat_batch_say(site, "the allocation %" PRIu32 " on %s ended before it was used: %.200s",
                        one->job, pleat_batch_hosts(one), why);
        pleat_batch_tell(site, one, NULL,
                         "%s ended its allocation %" PRIu32 " before it was used: %.200s",
                         site->kind->title, one->job, why);
        refuse(site, one, PLEAT_REASON_CLAIM_FAILED);
        break;
    case PLEAT_BATCH_HELD:
    case PLEAT_BATCH_ADOPTED:
        if (pleat_batch_is_used(one))
            pleat_batch_say(site, "the allocation %" PRIu32 " on %s was ended by %s: %.200s",
                            one->job, pleat_batch_hosts(one), site->kind->title, why);
        pleat_batch_tell(site, one, NULL, "%s ended its allocation %" PRIu32 " on %s: %.200s",
                         site->kind->title, one->job, pleat_batch_hosts(one), why);
        pleat_batch_say_lost(site, one, NULL);
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
                      struct pleat_batch_node *node, const char *why)
{
    pleat_batch_say(site, "the allocation %" PRIu32 " on %s is given up%s%s: %.400s", one->job,
                    pleat_batch_hosts(one), node && one->nodes.count > 1 ? ", since of " : "",
                    node && one->nodes.count > 1 ? node->host : "", why);
    if (node)
        node->dead = true;
    pleat_batch_tell(site, one, node, "its allocation %" PRIu32 " on %s is given up: %.400s",
                     one->job, node ? node->host : pleat_batch_hosts(one), why);
    pleat_batch_say_lost(site, one, node);
    if (!pleat_batch_is_used(one))
        pleat_batch_end(site, one, false);
}

/* It was given, and is of no use. */
static void fail(struct pleat_batch_site *site, struct pleat_batch_allocation *one, const char *why)
{
    pleat_batch_say(site, "the allocation %" PRIu32 " on %s is given back: %.400s", one->job,
                    pleat_batch_hosts(one), why);
    pleat_batch_tell(site, one, NULL, "its allocation %" PRIu32 " on %s is given back: %.400s",
                     one->job, pleat_batch_hosts(one), why);
    snprintf(site->offer.agent_trouble, sizeof(site->offer.agent_trouble), "%.390s", why);
    refuse(site, one, PLEAT_REASON_CLAIM_FAILED);
    pleat_batch_end(site, one, false);
}

/* ---- its agents ---- */

/* What a request to start an agent is known by: its allocation, and the node's place in that. */
enum { NODE_BITS = 13 }; /* PLEAT_BATCH_NODES are fewer */

static void on_run(void *arg, uint64_t token, const json_t *result, const struct pleat_error *wrong)
{
    struct pleat_batch_site *site = arg;
    struct pleat_batch_allocation *one = pleat_batch_of_number(site, token >> NODE_BITS);
    size_t place = token & ((1U << NODE_BITS) - 1);
    if (!one || result || one->state != PLEAT_BATCH_STARTING || place >= one->nodes.count)
        return;
    if (!is_unreachable(wrong->code)) {
        fail(site, one, wrong->text);
        return;
    }
    one->nodes.items[place].called = one->nodes.items[place].watched = false;
    pleat_batch_look_later(site, one, AGAIN_US);
}

/* False: it failed, and the allocation is given back. */
static bool start_agent(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                        size_t place)
{
    struct pleat_batch_node *node = &one->nodes.items[place];
    struct pleat_agent_call call;
    struct pleat_error err;
    if (site->host->agent_call(site->host->arg, site->index, node->number, &call, &err)) {
        fail(site, one, err.text);
        return false;
    }
    json_t *argv = json_array();
    node->called = node->watched = true;
    for (size_t i = 0; call.argv[i]; i++)
        json_array_append_new(argv, pleat_json_text(call.argv[i]));
    json_t *params = json_pack("{sIsssoss}", "job", (json_int_t)one->job, "node", node->host,
                               "argv", argv, "input", call.input ? call.input : "");
    pleat_batch_adapter_ask(site->adapter, "run", params, on_run, one->number << NODE_BITS | place);
    return true;
}

static void start_agents(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    for (size_t i = 0; site->synced && i < one->nodes.count; i++) {
        const struct pleat_batch_node *node = &one->nodes.items[i];
        if (!node->called && !pleat_batch_agent_is_there(site, node->number) &&
            !start_agent(site, one, i))
            return;
    }
}

static void hold(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    one->state = PLEAT_BATCH_HELD;
    pleat_batch_announce(site, one, one->wish.id);
}

/* ---- agents that do not come back ---- */

/* An agent lives on when the adapter that started it has ended, but nobody tells then when it ends:
 * it is known by its calls alone. */
static int64_t back_us(const struct pleat_batch_site *site)
{
    return site->options->agent_us > BACK_US ? site->options->agent_us : BACK_US;
}

/* Its agents that are not connected have some time from now on. */
static void count_away(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    bool some = false;
    for (size_t i = 0; i < one->nodes.count; i++) {
        struct pleat_batch_node *node = &one->nodes.items[i];
        bool away = !node->dead && !pleat_batch_agent_is_there(site, node->number);
        node->away_us = away ? now_us(site) : 0;
        some = some || (away && !node->watched);
    }
    if (some)
        pleat_batch_look_later(site, one, back_us(site));
}

/* While the batch system cannot be asked, the network may be what keeps agents from calling, too.
 */
static void look_for_away(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    char why[PLEAT_BATCH_HOST_ROOM + 80];
    if (!site->synced || site->silent) {
        count_away(site, one);
        return;
    }
    for (size_t i = 0; i < one->nodes.count && one->state == PLEAT_BATCH_HELD; i++) {
        struct pleat_batch_node *node = &one->nodes.items[i];
        int64_t away_us = now_us(site) - node->away_us;
        if (node->dead || node->watched || !node->away_us)
            continue;
        if (away_us < back_us(site)) {
            pleat_batch_look_later(site, one, back_us(site) - away_us);
            continue;
        }
        snprintf(why, sizeof(why), "the agent on %s has not called for %.0f s", node->host,
                 (double)away_us / 1e6);
        pleat_batch_lose(site, one, node, why);
    }
}

void pleat_batch_adapter_is_gone(struct pleat_batch_site *site)
{
    for (size_t i = 0; i < site->allocations.count; i++) {
        struct pleat_batch_allocation *one = site->allocations.items[i];
        for (size_t n = 0; n < one->nodes.count; n++)
            one->nodes.items[n].watched = false;
        if (one->state == PLEAT_BATCH_HELD)
            count_away(site, one);
    }
}

void pleat_batch_agent_is(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                          struct pleat_batch_node *node, bool there)
{
    node->away_us = there ? 0 : now_us(site);
    if (there && one->state == PLEAT_BATCH_STARTING && pleat_batch_agents_are_there(site, one))
        hold(site, one);
    else if (!there && one->state == PLEAT_BATCH_HELD && node->step_over && !node->dead)
        pleat_batch_lose(site, one, node, "its agent has ended");
    else if (!there && one->state == PLEAT_BATCH_HELD && !node->watched)
        pleat_batch_look_later(site, one, back_us(site));
}

/* Which of its nodes a notice is about; NULL: none. */
static struct pleat_batch_node *node_called(struct pleat_batch_allocation *one, const char *host)
{
    for (size_t i = 0; i < one->nodes.count; i++)
        if (!strcmp(one->nodes.items[i].host, host))
            return &one->nodes.items[i];
    return NULL;
}

/* The last line that says something: before it are remarks. */
static const char *last_line(const char *text, int *length)
{
    size_t end = strlen(text);
    while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' '))
        end--;
    size_t from = end;
    while (from > 0 && text[from - 1] != '\n')
        from--;
    *length = (int)(end - from);
    return text + from;
}

void pleat_batch_step_is_over(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                              const json_t *how)
{
    char why[500];
    struct pleat_batch_node *node = node_called(one, pleat_reply_text(how, "node", ""));
    int code = pleat_reply_small(how, "code", -1, 255),
        signal = pleat_reply_small(how, "signal", 0, 255);
    if (!node)
        return;
    int length;
    const char *said = last_line(pleat_reply_text(how, "text", ""), &length);
    snprintf(why, sizeof(why), "its agent has ended (%s %d)%s%.*s", signal ? "signal" : "code",
             signal ? signal : code, length ? ": " : "", length, said);
    node->step_over = true;
    if (one->state == PLEAT_BATCH_STARTING && node->called)
        fail(site, one, why);
    else if (one->state == PLEAT_BATCH_HELD && !node->dead &&
             !pleat_batch_agent_is_there(site, node->number))
        pleat_batch_lose(site, one, node, why);
}

/* ---- given ---- */

static int compare_nodes(const void *a, const void *b)
{
    const json_t *const *left = a, *const *right = b;
    return strcmp(pleat_reply_text(*left, "name", ""), pleat_reply_text(*right, "name", ""));
}

/* Gives its nodes their numbers, in the order of their names: so they are the same after a restart.
 * False: there are none, or more than can be. `usual`: processors, where they are not told. */
static bool take_nodes(struct pleat_batch_allocation *one, const json_t *job, int32_t usual)
{
    const json_t *nodes = pleat_reply_array(job, "nodes");
    size_t count = json_array_size(nodes);
    const json_t **sorted = calloc(count + 1, sizeof(*sorted));
    if (!sorted)
        abort();
    for (size_t i = 0; i < count; i++)
        sorted[i] = json_array_get(nodes, i);
    qsort(sorted, count, sizeof(*sorted), compare_nodes);
    bool good = count > 0 && count <= PLEAT_BATCH_NODES;
    for (size_t i = 0; good && i < count; i++) {
        struct pleat_batch_node *node = pleat_batch_node_make(one, one->first + (uint32_t)i);
        int32_t cpus = pleat_reply_small(sorted[i], "cpus", 0, PLEAT_BATCH_NODE_CPUS);
        snprintf(node->host, sizeof(node->host), "%s", pleat_reply_text(sorted[i], "name", ""));
        if (cpus > 0 || usual > 0)
            pleat_batch_node_trim(node, cpus > 0 ? cpus : usual);
        good = node->host[0] && one->nodes.count <= count;
    }
    free(sorted);
    one->room = (uint32_t)one->nodes.count;
    return good;
}

/* Books the claim for which it was asked. False: it cannot have as many as one. */
static bool book_wish(struct pleat_batch_allocation *one)
{
    struct pleat_site_wish wish = one->wish;
    int32_t free = 0;
    for (size_t i = 0; i < one->nodes.count; i++)
        free += one->nodes.items[i].book.free;
    if (wish.count > free)
        wish.count = free;
    wish.beside = 0;
    return pleat_batch_take(one, &wish);
}

/* The time at which it is ended there may be another one. At least half of what is left of it is
 * used, however short it is. */
static void note_end(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                     const json_t *job)
{
    int64_t end_s = pleat_reply_int(job, "end", 0), now = now_us(site);
    int64_t end_us = end_s > 0 && end_s < INT64_C(1) << 40 ? end_s * 1000000 : 0;
    if (end_us == one->end_us)
        return;
    one->end_us = end_us;
    one->leave_us = end_us - site->options->leave_us;
    if (end_us > now && one->leave_us < now + (end_us - now) / 2)
        one->leave_us = now + (end_us - now) / 2;
    if (one->state == PLEAT_BATCH_HELD)
        pleat_batch_say_end(site, one);
}

/* The processors are there. */
static void take(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                 const json_t *job, bool asked_now)
{
    note_end(site, one, job);
    one->state = PLEAT_BATCH_STARTING;
    one->agent_until_us = now_us(site) + site->options->agent_us;
    size_t count = json_array_size(pleat_reply_array(job, "nodes"));
    if (one->wish.on_one_node && count != 1) {
        fail(site, one, "it is not on one node");
        return;
    }
    if (!take_nodes(one, job, count == 1 ? one->wish.count : 1) || !book_wish(one)) {
        fail(site, one, "what is said of its nodes makes no sense");
        return;
    }
    for (size_t i = 0; i < one->nodes.count; i++)
        one->nodes.items[i].given = true;
    pleat_batch_say_waits(site, one, PLEAT_WAIT_AGENTS, 0);
    pleat_batch_look_later(site, one, site->options->agent_us);
    if (pleat_batch_agents_are_there(site, one))
        hold(site, one);
    else if (asked_now)
        start_agents(site, one);
    else
        pleat_batch_look_later(site, one, CALLS_US);
}

/* The same for one of the pleatd before, whose claims are in its books. */
static void take_adopted(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                         const json_t *job)
{
    one->state = PLEAT_BATCH_HELD;
    if (one->nodes.count == 0) /* it is about to be released */
        return;
    if (!take_nodes(one, job, 0)) {
        pleat_batch_lose(site, one, NULL, "it is on other nodes");
        return;
    }
    for (size_t i = 0; i < one->nodes.count; i++)
        one->nodes.items[i].given = true;
    note_end(site, one, job);
    count_away(site, one);
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
        pleat_batch_say(site, "%s can never give %d processors%s: %.100s", site->kind->title,
                        one->wish.count, one->wish.on_one_node ? " on one node" : "", reason);
        pleat_batch_tell(site, one, NULL, "%s can never give %d processors%s: %.100s",
                         site->kind->title, one->wish.count,
                         one->wish.on_one_node ? " on one node" : "", reason);
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
            take_adopted(site, one, job);
        else
            pleat_batch_lose(site, one, NULL, "it is in the queue again");
        break;
    case PLEAT_BATCH_ENDING:
        ask_to_release(site, one);
        break;
    case PLEAT_BATCH_STARTING:
    case PLEAT_BATCH_HELD:
        if (runs)
            note_end(site, one, job);
        break;
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
        pleat_batch_tell(site, one, NULL, "%s gave no allocation: %.400s", site->kind->title,
                         wrong->text);
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
    if (!one->numbered)
        pleat_batch_number_nodes(site, one, pleat_batch_room(&one->wish));
    one->state = PLEAT_BATCH_ASKED;
    snprintf(name, sizeof(name), "%s%" PRIu32 ":%" PRIu64, site->prefix, one->first, one->wish.id);
    json_t *params = json_pack("{sssI}", "name", name, "count", (json_int_t)one->wish.count);
    if (one->wish.on_one_node)
        json_object_set_new(params, "nodes", json_integer(1));
    else
        json_object_set_new(params, "few", json_true());
    if (one->near[0] && !pleat_batch_is_shut(site, one->near))
        json_object_set_new(params, "near", pleat_json_text(one->near));
    if (one->wish.purpose != PLEAT_FOR_RUN && options->grow_us == 0)
        json_object_set_new(params, "now", json_true());
    if (site->shut)
        json_object_set(params, "without", site->shut);
    site->kind->wish(options, params);
    if (options->limit_us > 0)
        json_object_set_new(params, "minutes",
                            json_integer((options->limit_us + 59999999) / 60000000));
    if (options->memory_mb > 0)
        json_object_set_new(params, "memory_mb", json_integer(options->memory_mb));
    pleat_batch_adapter_ask(site->adapter, "allocate", params, on_asked, one->number);
}

/* ---- time ---- */

static void fail_late(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    char why[PLEAT_BATCH_HOST_ROOM + 200];
    const char *host = "there";
    for (size_t i = one->nodes.count; i-- > 0;)
        if (!pleat_batch_agent_is_there(site, one->nodes.items[i].number))
            host = one->nodes.items[i].host;
    snprintf(why, sizeof(why),
             "no agent has called from %s in time (agent_s): can that node reach this one "
             "(agent_listen, agent_host)?",
             host);
    fail(site, one, why);
}

static void on_time(void *arg, uint64_t number)
{
    struct pleat_batch_site *site = arg;
    struct pleat_batch_allocation *one = pleat_batch_of_number(site, number);
    if (!one)
        return;
    if (one->state == PLEAT_BATCH_WANTED && site->synced)
        pleat_batch_begin(site, one);
    else if (one->state == PLEAT_BATCH_STARTING && now_us(site) >= one->agent_until_us)
        fail_late(site, one);
    else if (one->state == PLEAT_BATCH_STARTING)
        start_agents(site, one);
    else if (one->state == PLEAT_BATCH_HELD)
        look_for_away(site, one);
    else if (one->state == PLEAT_BATCH_ENDING)
        ask_to_release(site, one);
    else if (one->state == PLEAT_BATCH_STRAY)
        pleat_batch_end(site, one, false);
}

#include "site/batch_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/batch_agents.h"
#include "site/batch_end.h"
#include "wire/message.h"
#include "wire/reply.h"

/* How long an agent may take to call that lives since before this pleatd was started. */
#define CALLS_US INT64_C(10000000)

/* ---- given ---- */

static int compare_nodes(const void *a, const void *b)
{
    const json_t *const *left = a, *const *right = b;
    return strcmp(pleat_reply_text(*left, "name", ""), pleat_reply_text(*right, "name", ""));
}

/* Gives the nodes of an allocation their numbers, in the order of their names: so they are the same
 * after a restart. False: there are no nodes, or too many. `usual`: processors of a node, where
 * they are not told. */
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

/* Books the claim for which the allocation was asked. False: it does not have a single processor
 * for it. */
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

/* Notes when the batch system ends the allocation, which may have changed. At least half of the
 * time that is left is used, however short it is. */
static void note_end(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                     const json_t *job)
{
    int64_t end_s = pleat_reply_int(job, "end", 0), now = pleat_batch_now_us(site);
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

/* The processors of an allocation are there. */
static void take(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                 const json_t *job, bool asked_now)
{
    note_end(site, one, job);
    one->state = PLEAT_BATCH_STARTING;
    one->agent_until_us = pleat_batch_now_us(site) + site->options->agent_us;
    size_t count = json_array_size(pleat_reply_array(job, "nodes"));
    if (one->wish.on_one_node && count != 1) {
        pleat_batch_fail(site, one, "it is not on one node");
        return;
    }
    if (!take_nodes(one, job, count == 1 ? one->wish.count : 1) || !book_wish(one)) {
        pleat_batch_fail(site, one, "what is said of its nodes makes no sense");
        return;
    }
    for (size_t i = 0; i < one->nodes.count; i++)
        one->nodes.items[i].given = true;
    pleat_batch_say_nodes(site, one);
    pleat_batch_say_waits(site, one, PLEAT_WAIT_AGENTS, 0);
    pleat_batch_look_later(site, one, site->options->agent_us);
    if (pleat_batch_agents_are_there(site, one))
        pleat_batch_hold(site, one);
    else if (asked_now)
        pleat_batch_start_agents(site, one);
    else
        pleat_batch_look_later(site, one, CALLS_US);
}

/* The same for an allocation of an earlier pleatd, whose claims are in its books. */
static void take_adopted(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                         const json_t *job)
{
    one->state = PLEAT_BATCH_HELD;
    one->adopted = true;
    if (one->nodes.count == 0) /* the allocation is about to be released */
        return;
    if (!take_nodes(one, job, 0)) {
        pleat_batch_lose(site, one, NULL, "it is on other nodes");
        return;
    }
    for (size_t i = 0; i < one->nodes.count; i++)
        one->nodes.items[i].given = true;
    pleat_batch_say_nodes(site, one);
    note_end(site, one, job);
    pleat_batch_count_away(site, one);
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
        pleat_batch_refuse(site, one, PLEAT_REASON_CLAIM_CANNOT);
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
        pleat_batch_ask_to_release(site, one);
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

void pleat_batch_found_ending(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                              const json_t *job)
{
    one->job = (uint32_t)pleat_reply_int(job, "job", 0);
    snprintf(one->name, sizeof(one->name), "%s", pleat_reply_text(job, "name", ""));
    if (one->state != PLEAT_BATCH_ADOPTED)
        return;
    one->state = PLEAT_BATCH_HELD;
    one->adopted = true;
    /* the batch system may not have all of its nodes any more; they are for messages only */
    if (json_array_size(pleat_reply_array(job, "nodes")) == one->nodes.count)
        (void)take_nodes(one, job, 0);
    for (size_t i = 0; i < one->nodes.count; i++)
        one->nodes.items[i].given = true;
    pleat_batch_count_away(site, one);
}

/* ---- asking ---- */

struct pleat_batch_allocation *pleat_batch_take_more(struct pleat_batch_site *site,
                                                     const struct pleat_site_wish *wish, bool there)
{
    struct pleat_batch_allocation *beside = pleat_batch_of_claim(site, wish->beside);
    for (size_t i = 0; i <= site->allocations.count; i++) {
        struct pleat_batch_allocation *one = i ? site->allocations.items[i - 1] : beside;
        if (!one || one->state != PLEAT_BATCH_HELD || one->taken ||
            pleat_batch_has_shut_node(site, one))
            continue;
        if (one != beside && (there || !wish->job || one->owner != wish->job))
            continue; /* another allocation is another node */
        if (pleat_batch_take(one, wish))
            return one;
    }
    return NULL;
}

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
        pleat_batch_finish_end(site, one);
    } else if (pleat_batch_is_unreachable(wrong->code)) {
        one->state = PLEAT_BATCH_WANTED;
        pleat_batch_say_waits(site, one, PLEAT_WAIT_UNREACHED, 0);
        pleat_batch_look_later(site, one, PLEAT_BATCH_AGAIN_US);
    } else {
        bool never = wrong->code == PLEAT_E_INVALID || wrong->code == PLEAT_E_PERMISSION;
        if (wrong->code != PLEAT_E_BUSY)
            pleat_batch_say(site, "no allocation: %.400s", wrong->text);
        pleat_batch_tell(site, one, NULL, "%s gave no allocation: %.400s", site->kind->title,
                         wrong->text);
        pleat_batch_refuse(site, one,
                           never                         ? PLEAT_REASON_CLAIM_CANNOT
                           : wrong->code == PLEAT_E_BUSY ? PLEAT_REASON_CLAIM_REFUSED
                                                         : PLEAT_REASON_CLAIM_FAILED);
        pleat_batch_remove(site, one);
    }
}

/* A wish for one node is asked for when it is known how large nodes are: then whoever wishes for
 * more than any has is told so at once, and may wish for less. False: it cannot be asked for now.
 */
static bool fits_a_node(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    if (!site->nodes_answered) {
        pleat_batch_say_waits(site, one, PLEAT_WAIT_UNREACHED, 0);
        return false;
    }
    if (site->largest == 0 || one->wish.count <= site->largest)
        return true;
    pleat_batch_refuse(site, one, PLEAT_REASON_CLAIM_CANNOT);
    pleat_batch_remove(site, one);
    return false;
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
    if (one->wish.on_one_node && one->wish.count > 1 && !fits_a_node(site, one))
        return;
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
        json_object_set_new(params, one->is_guest ? "on" : "near", pleat_json_text(one->near));
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
    pleat_batch_fail(site, one, why);
}

void pleat_batch_on_time(void *arg, uint64_t number)
{
    struct pleat_batch_site *site = arg;
    struct pleat_batch_allocation *one = pleat_batch_of_number(site, number);
    if (!one)
        return;
    if (one->state == PLEAT_BATCH_WANTED && site->synced)
        pleat_batch_begin(site, one);
    else if (one->state == PLEAT_BATCH_STARTING && pleat_batch_now_us(site) >= one->agent_until_us)
        fail_late(site, one);
    else if (one->state == PLEAT_BATCH_STARTING)
        pleat_batch_start_agents(site, one);
    else if (one->state == PLEAT_BATCH_HELD)
        pleat_batch_look_for_away(site, one);
    else if (one->state == PLEAT_BATCH_ENDING)
        pleat_batch_ask_to_release(site, one);
    else if (one->state == PLEAT_BATCH_STRAY)
        pleat_batch_end(site, one, false);
}

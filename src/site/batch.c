/* Nodes of a cluster that has a batch system: each claim is an allocation of its own, on one node
 * or on several, in each of which an agent is started. An adapter program speaks with the batch
 * system (batch_adapter.c); which one, the site's kind says (batch_kind.h). Allocations of an
 * earlier pleatd are found again by the names of their jobs:
 * "pleat-INSTANCE-SITE:NODE:CLAIM.XXXXXXXX". NODE is the number of the first node; the others have
 * the numbers that follow, in the order of the hosts' names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "site/batch_agents.h"
#include "site/batch_end.h"
#include "site/batch_found.h"
#include "site/batch_guests.h"
#include "site/batch_jobs.h"
#include "site/batch_load.h"
#include "site/batch_shrink.h"
#include "site/site.h"
#include "wire/reply.h"

enum { NAME_MOST = 40, INSTANCE_PART = 12 };

static struct pleat_batch_site *of(struct pleat_site_instance *base)
{
    return (struct pleat_batch_site *)base;
}

/* ---- allocations that the batch system knows ---- */

/* Allocations that the batch system did not list are over. The list of allocations changes
 * meanwhile. */
static void drop_unseen(struct pleat_batch_site *site)
{
    for (size_t i = site->allocations.count; i-- > 0;) {
        struct pleat_batch_allocation *one = site->allocations.items[i];
        bool may_be_there = one->state == PLEAT_BATCH_WANTED || one->state == PLEAT_BATCH_ASKED ||
                            one->asked || one->seen;
        if (!may_be_there)
            pleat_batch_is_over(site, one, "it is not there any more");
    }
}

static void on_jobs(void *arg, uint64_t token, const json_t *result,
                    const struct pleat_error *wrong);

static void ask_jobs(struct pleat_batch_site *site)
{
    pleat_batch_adapter_ask(site->adapter, "jobs", json_pack("{ss}", "prefix", site->prefix),
                            on_jobs, 0);
}

static void on_again(void *arg, uint64_t token)
{
    struct pleat_batch_site *site = arg;
    (void)token;
    if (pleat_batch_adapter_is_there(site->adapter))
        ask_jobs(site);
}

static void tell_silent(struct pleat_batch_site *site, const char *why)
{
    if (!site->silent)
        pleat_batch_say(site, "%s cannot be asked, claims wait: %.500s", site->kind->title, why);
    site->silent = true;
    snprintf(site->offer.trouble, sizeof(site->offer.trouble), "%.290s", why);
}

static void tell_answers(struct pleat_batch_site *site)
{
    if (site->silent)
        pleat_batch_say(site, "%s answers again", site->kind->title);
    site->silent = false;
}

static void on_jobs(void *arg, uint64_t token, const json_t *result,
                    const struct pleat_error *wrong)
{
    struct pleat_batch_site *site = arg;
    size_t i;
    (void)token;
    if (!result) {
        tell_silent(site, wrong->text);
        if (pleat_batch_adapter_is_there(site->adapter))
            site->host->later(site->host->arg, 2000000, on_again, site, 0);
        return;
    }
    tell_answers(site);
    bool first = !site->synced;
    site->synced = true;
    for (i = 0; i < site->allocations.count; i++)
        site->allocations.items[i]->seen = false;
    pleat_batch_found(site, pleat_reply_array(result, "jobs"));
    drop_unseen(site);
    if (first)
        pleat_batch_say_known(site);
    for (i = 0; first && i < site->allocations.count; i++)
        pleat_batch_look_later(site, site->allocations.items[i], 0);
}

/* ---- the cluster ---- */

static void on_cluster(void *arg, uint64_t token, const json_t *result,
                       const struct pleat_error *wrong)
{
    struct pleat_batch_site *site = arg;
    const char *wanted = site->kind->part(site->options);
    size_t i;
    const json_t *partition;
    (void)token;
    (void)wrong;
    if (result) {
        json_decref(site->offer.cluster);
        site->offer.cluster = json_incref((json_t *)(uintptr_t)result);
        pleat_batch_offer_ask_accounts(site);
        pleat_batch_look_at_ending(site);
    }
    site->partition_cpus = 0;
    json_array_foreach(pleat_reply_array(result, "partitions"), i, partition)
    {
        if (wanted ? pleat_reply_is(partition, "name", wanted)
                   : pleat_reply_true(partition, "default"))
            site->partition_cpus = pleat_reply_small(partition, "cpus", 0, PLEAT_BATCH_UNKNOWN);
    }
    pleat_batch_ask_nodes(site);
}

/* ---- the adapter ---- */

static void on_there(void *arg)
{
    struct pleat_batch_site *site = arg;
    ask_jobs(site);
    pleat_batch_offer_ask(site, on_cluster);
}

static void on_gone(void *arg, const char *why)
{
    struct pleat_batch_site *site = arg;
    site->synced = false;
    tell_silent(site, why);
    /* an answer to its requests may have come by then */
    site->host->later(site->host->arg, PLEAT_BATCH_STRAY_US, on_again, site, 0);
}

static void on_notice(void *arg, const char *method, const json_t *params)
{
    struct pleat_batch_site *site = arg;
    struct pleat_batch_allocation *one =
        pleat_batch_of_job(site, (uint32_t)pleat_reply_int(params, "job", 0));
    if (!strcmp(method, "controller")) {
        if (pleat_reply_true(params, "answers"))
            tell_answers(site);
        else
            tell_silent(site, pleat_reply_text(params, "text", ""));
    } else if (one && !strcmp(method, "run_ended")) {
        pleat_batch_step_is_over(site, one, params);
    } else if (!one || !pleat_reply_is(params, "name", one->name)) {
        return;
    } else if (!strcmp(method, "granted") || !strcmp(method, "pending") ||
               !strcmp(method, "moved")) {
        pleat_batch_job_is(site, one, params);
    } else if (!strcmp(method, "ending")) {
        pleat_batch_is_ending(site, one, params);
    } else if (!strcmp(method, "ended")) {
        pleat_batch_is_over(site, one, pleat_reply_text(params, "why", ""));
    }
}

/* ---- the contract ---- */

int pleat_batch_open(const struct pleat_batch_kind *kind, const struct pleat_site_options *options,
                     const struct pleat_host *host, struct pleat_site_instance **out,
                     struct pleat_error *err)
{
    static const struct pleat_batch_adapter_callbacks callbacks = {on_there, on_gone, on_notice};
    if (options->processors < 0 || options->processors > PLEAT_BATCH_UNKNOWN)
        return pleat_error_set(err, PLEAT_E_INVALID, "site %s: %d processors; up to %d can be used",
                               options->name, options->processors, PLEAT_BATCH_UNKNOWN);
    if (strlen(options->name) > NAME_MOST)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "site %s: names of sites of the kind %s have at most %d "
                               "letters, since they are in the names of %s's jobs",
                               options->name, kind->ops->name, NAME_MOST, kind->title);
    struct pleat_batch_site *site = calloc(1, sizeof(*site));
    if (!site ||
        pleat_batch_adapter_create(kind, options->own, host, &callbacks, site, &site->adapter)) {
        free(site);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    site->base.ops = kind->ops;
    site->kind = kind;
    site->host = host;
    site->options = options->own;
    site->on_time = pleat_batch_on_time;
    site->index = options->index;
    site->processors = options->processors;
    site->threshold = options->threshold;
    snprintf(site->prefix, sizeof(site->prefix), "pleat-%.*s-%s:", INSTANCE_PART,
             options->instance ? options->instance : "0", options->name);
    pleat_batch_tell_size(site, PLEAT_BATCH_UNKNOWN, 0);
    *out = &site->base;
    return 0;
}

int pleat_batch_probe(struct pleat_site_instance *base, struct pleat_error *err)
{
    struct pleat_batch_site *site = of(base);
    (void)err;
    if (site->synced)
        pleat_batch_ask_nodes(site);
    return 0;
}

static void refuse(struct pleat_batch_site *site, const struct pleat_site_wish *wish,
                   enum pleat_reason why)
{
    pleat_batch_say_claim(site, PLEAT_EV_CLAIM_FAILED, wish->id, wish->index, 0, why);
}

static bool is_on_one_node(const struct pleat_batch_site *site, const struct pleat_site_wish *wish)
{
    return wish->on_one_node || !site->kind->spreads;
}

/* Whether a wish is more than a node has, or, where it may be on several, more than all have. */
static bool cannot(const struct pleat_batch_site *site, const struct pleat_site_wish *wish)
{
    bool on_one_node = is_on_one_node(site, wish);
    int32_t most = on_one_node ? site->largest : site->whole;
    if (on_one_node && wish->count > PLEAT_BATCH_NODE_CPUS)
        return true;
    return most > 0 && wish->count > most;
}

/* Takes over a job of an earlier pleatd for this claim, if there is one. */
static void look_for_stray(struct pleat_batch_site *site, uint64_t id)
{
    for (size_t i = 0; i < site->allocations.count; i++) {
        struct pleat_batch_allocation *one = site->allocations.items[i];
        if (one->state != PLEAT_BATCH_STRAY || one->wish.id != id)
            continue;
        pleat_batch_remove(site, one);
        site->synced = false;
        on_again(site, 0);
        return;
    }
}

/* How long the request may wait in the queue. A growth has a limit of its own: the job computes
 * meanwhile, but its size cannot be changed otherwise. */
static int64_t queue_us(const struct pleat_batch_site *site, const struct pleat_site_wish *wish)
{
    const struct pleat_batch_options *options = site->options;
    if (wish->purpose == PLEAT_FOR_RUN)
        return options->queue_us;
    return options->grow_us > 0 ? options->grow_us : options->agent_us;
}

/* Asks for an allocation of its own; home: as a guest of that node. */
static void ask_for(struct pleat_batch_site *site, const struct pleat_site_wish *wish,
                    const struct pleat_batch_node *home)
{
    struct pleat_batch_allocation *beside = pleat_batch_of_claim(site, wish->beside);
    struct pleat_batch_allocation *one;
    look_for_stray(site, wish->id);
    one = pleat_batch_new(site, PLEAT_BATCH_WANTED);
    one->wish = *wish;
    one->wish.wanted = NULL; /* of the call */
    one->wish.parts = NULL;
    one->owner = wish->job;
    one->wish.on_one_node = is_on_one_node(site, wish);
    one->until_us = site->host->now_us(site->host->arg) + queue_us(site, wish);
    if (home)
        pleat_batch_be_guest(one, home);
    else if (beside)
        pleat_batch_set_near(one, beside, wish->beside);
    pleat_batch_begin(site, one);
}

/* A growth of a job whose processes are on several nodes. */
static void grow_on_nodes(struct pleat_batch_site *site, const struct pleat_site_wish *wish)
{
    struct pleat_batch_allocation *held = pleat_batch_take_some(site, wish);
    struct pleat_site_wish own = *wish;
    const struct pleat_batch_node *home = held ? NULL : pleat_batch_home_of_some(site, &own);
    if (held)
        pleat_batch_announce(site, held, wish->id);
    else if (home)
        ask_for(site, &own, home);
    else
        refuse(site, wish, PLEAT_REASON_CLAIM_REFUSED);
}

int pleat_batch_claim(struct pleat_site_instance *base, const struct pleat_site_wish *wish,
                      struct pleat_error *err)
{
    struct pleat_batch_site *site = of(base);
    struct pleat_batch_allocation *one = pleat_batch_of_claim(site, wish->id);
    if (wish->count < 1)
        return pleat_error_set(err, PLEAT_E_INVALID, "a claim of %d processors", wish->count);
    if (one && one->state == PLEAT_BATCH_HELD)
        pleat_batch_announce(site, one, wish->id);
    if (one)
        return 0;
    bool is_more = !wish->anew && (wish->purpose != PLEAT_FOR_RUN || wish->beside);
    bool grows = is_more && wish->purpose == PLEAT_FOR_GROWTH, shut = false;
    if (grows && wish->parts && !wish->stays) {
        grow_on_nodes(site, wish);
        pleat_batch_say_more(site);
        return 0;
    }
    const struct pleat_batch_node *home = grows ? pleat_batch_home(site, wish, &shut) : NULL;
    struct pleat_batch_allocation *held =
        home      ? pleat_batch_take_there(site, home, wish)
        : is_more ? pleat_batch_take_more(site, wish, is_on_one_node(site, wish))
                  : NULL;
    if (held)
        pleat_batch_announce(site, held, wish->id);
    else if (is_more && !home && (wish->parts || is_on_one_node(site, wish)))
        refuse(site, wish, PLEAT_REASON_CLAIM_REFUSED); /* another allocation is another node */
    else if (home && shut)
        refuse(site, wish, PLEAT_REASON_CLAIM_REFUSED);
    else if (cannot(site, wish))
        refuse(site, wish, PLEAT_REASON_CLAIM_CANNOT);
    else
        ask_for(site, wish, home);
    pleat_batch_say_more(site);
    return 0;
}

void pleat_batch_shut_hosts(struct pleat_site_instance *base, const json_t *names)
{
    struct pleat_batch_site *site = of(base);
    json_decref(site->shut);
    site->shut = json_array_size(names) ? json_deep_copy(names) : NULL;
    if (site->synced)
        pleat_batch_ask_nodes(site); /* it has other processors now */
}

int pleat_batch_split(struct pleat_site_instance *base, uint64_t id, uint64_t into,
                      uint32_t into_index, int32_t count, struct pleat_error *err)
{
    struct pleat_batch_site *site = of(base);
    struct pleat_batch_allocation *one = pleat_batch_of_claim(site, id);
    if (!one)
        return 0; /* the claim is lost, and the core has not heard of that yet */
    int rc = pleat_batch_split_claim(one, id, into, into_index, count);
    return rc ? pleat_error_set(err, rc, "claim %" PRIu64 " cannot be split", id) : 0;
}

int pleat_batch_release(struct pleat_site_instance *base, uint64_t id, uint32_t index,
                        struct pleat_error *err)
{
    struct pleat_batch_site *site = of(base);
    struct pleat_batch_allocation *one = pleat_batch_of_claim(site, id);
    (void)err;
    if (one && one->state == PLEAT_BATCH_ENDING) {
        one->wish.index = index; /* the release is answered when the allocation has ended */
        return 0;
    }
    if (one)
        pleat_batch_drop(one, id);
    if (!one || pleat_batch_is_used(one)) {
        pleat_batch_say_claim(site, PLEAT_EV_RELEASED, id, index, 0, PLEAT_REASON_NONE);
        if (one)
            pleat_batch_shrink(site, one);
        pleat_batch_say_more(site);
        return 0;
    }
    one->wish.id = id;
    one->wish.index = index;
    pleat_batch_end(site, one, true);
    return 0;
}

/* The allocation of the pieces: nodes of one claim are of one allocation. */
static struct pleat_batch_allocation *allocation_of(struct pleat_batch_site *site,
                                                    const struct pleat_site_claim *claim)
{
    struct pleat_batch_allocation *one = NULL;
    for (uint32_t i = 0; i < claim->piece_count; i++) {
        struct pleat_batch_allocation *other =
            pleat_batch_of_node(site, claim->pieces[i].node, NULL);
        if (one && other && other != one) {
            pleat_batch_join(one, other);
            pleat_batch_remove(site, other);
        } else if (other) {
            one = other;
        }
    }
    return one ? one : pleat_batch_new(site, PLEAT_BATCH_ADOPTED);
}

/* Whether the pieces could be taken into the books of the nodes that they are on. */
static bool adopt_pieces(struct pleat_batch_site *site, const struct pleat_site_claim *claim)
{
    struct pleat_batch_allocation *one = allocation_of(site, claim);
    bool fits = true;
    if (!one->owner)
        one->owner = claim->job;
    one->wish.stays = one->wish.stays || claim->stays;
    one->is_guest = one->is_guest || claim->is_guest;
    for (uint32_t i = 0; fits && i < claim->piece_count; i++) {
        struct pleat_batch_node *node = pleat_batch_node_make(one, claim->pieces[i].node);
        node->given = true;
        fits = pleat_batch_adopt_on(node, claim);
    }
    if (fits)
        return true;
    pleat_batch_drop(one, claim->id);
    if (one->state == PLEAT_BATCH_ADOPTED && !pleat_batch_is_used(one))
        pleat_batch_remove(site, one);
    return false;
}

/* Whether the batch system still has the allocation is asked as soon as possible. */
int pleat_batch_adopt(struct pleat_site_instance *base, const struct pleat_site_claim *claim,
                      struct pleat_error *err)
{
    struct pleat_batch_site *site = of(base);
    (void)err;
    if (pleat_batch_of_claim(site, claim->id))
        return 0;
    if (claim->piece_count == 0) { /* the claim was released before it was given */
        struct pleat_batch_allocation *one = pleat_batch_new(site, PLEAT_BATCH_ADOPTED);
        one->wish.id = claim->id;
        one->wish.index = claim->index;
    } else if (!adopt_pieces(site, claim)) {
        pleat_batch_say_claim(site, PLEAT_EV_LOST, claim->id, claim->index, claim->count,
                              PLEAT_REASON_NONE);
    }
    return 0;
}

/* The agent of an allocation of an earlier pleatd that is gone has called: the node that has its
 * number next is another one, and must not be taken for its own. */
static void on_unknown_agent(void *arg, uint64_t number)
{
    struct pleat_batch_site *site = arg;
    const struct pleat_event gone = {
        .kind = PLEAT_EV_NODE_GONE, .component = site->index, .u.node = {.node = (uint32_t)number}};
    if (!pleat_batch_of_node(site, (uint32_t)number, NULL))
        site->host->emit(site->host->arg, &gone);
}

void pleat_batch_agent(struct pleat_site_instance *base, uint32_t number, bool there)
{
    struct pleat_batch_site *site = of(base);
    struct pleat_batch_node *node = NULL;
    struct pleat_batch_allocation *one = pleat_batch_of_node(site, number, &node);
    const bool is_unknown = there && site->synced && !one;
    pleat_batch_note_agent(site, number, there && !is_unknown);
    if (is_unknown) /* later: the caller goes on with its agent */
        site->host->later(site->host->arg, 0, on_unknown_agent, site, number);
    site->offer.agents += there;
    if (one && node)
        pleat_batch_agent_is(site, one, node, there);
    pleat_batch_say_more(site);
}

void pleat_batch_end_node(struct pleat_site_instance *base, uint32_t number)
{
    struct pleat_batch_site *site = of(base);
    struct pleat_batch_node *node = NULL;
    struct pleat_batch_allocation *one = pleat_batch_of_node(site, number, &node);
    if (one && node && !node->dead && one->state == PLEAT_BATCH_HELD)
        pleat_batch_lose(site, one, node, "its agent does not answer");
}

/* Whether something is left is known only when the batch system has been asked. */
bool pleat_batch_rests(const struct pleat_site_instance *base)
{
    const struct pleat_batch_site *site = (const struct pleat_batch_site *)base;
    return site->synced && site->allocations.count == 0;
}

void pleat_batch_close(struct pleat_site_instance *base)
{
    struct pleat_batch_site *site = of(base);
    if (!site)
        return;
    pleat_batch_adapter_destroy(site->adapter);
    site->host->drop(site->host->arg, site);
    while (site->allocations.count)
        pleat_batch_remove(site, site->allocations.items[0]);
    pleat_array_finish(&site->allocations);
    pleat_array_finish(&site->agents);
    json_decref(site->hosts);
    json_decref(site->coming_hosts);
    json_decref(site->shut);
    json_decref(site->offer.cluster);
    json_decref(site->offer.accounts);
    free(site);
}

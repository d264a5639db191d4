#include "fake_site.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "site/claimbook.h"

enum pending_kind {
    PENDING_CLAIM,
    PENDING_QUEUE,
    PENDING_AGENT,
    PENDING_RELEASE,
    PENDING_LOSS,
    PENDING_TAKEN
};

struct pending {
    uint64_t id;
    uint32_t index;
    int32_t count;
    uint64_t beside;
    bool on_one_node;
    enum pending_kind kind;
    int64_t left_us; /* in the queue */
};

PLEAT_ARRAY(pending_array, struct pending);

/* A claim of a site that brings its agents; part of it may be another claim on the same node. */
struct brought {
    uint64_t id;
    uint32_t node;
    bool given; /* its agent is there, and CLAIMED was said */
};

PLEAT_ARRAY(brought_array, struct brought);

struct fake_site {
    struct pleat_site_instance base;
    const struct pleat_host *host;
    struct pleat_fake_site_options options;
    struct pleat_random random;
    struct pleat_claimbook book;
    uint32_t index;
    struct brought_array brought;
    struct pending_array pending; /* by token; kind of an answered one stays */
};

static void answer(void *arg, uint64_t token);

static int fake_open(const struct pleat_site_options *options, const struct pleat_host *host,
                     struct pleat_site_instance **out, struct pleat_error *err)
{
    if (options->processors < 1 || options->processors > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "site %s: %d processors", options->name,
                               options->processors);
    const struct pleat_fake_site_options *own = options->own;
    int32_t slots[PLEAT_FAKE_NODES_MAX];
    int32_t nodes = own && own->nodes ? own->nodes : 1;
    for (int32_t n = 0; n < nodes; n++)
        slots[n] = options->processors / nodes + (n < options->processors % nodes);
    struct fake_site *site = calloc(1, sizeof(*site));
    if (!site || pleat_claimbook_init(&site->book, slots, (uint32_t)nodes)) {
        free(site);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    site->base.ops = &pleat_site_fake;
    site->host = host;
    site->index = options->index;
    if (own)
        site->options = *own;
    pleat_random_init(&site->random, site->options.seed);
    struct pleat_event there = {
        .kind = PLEAT_EV_SITE,
        .component = options->index,
        .u.site = {.capacity = options->processors, .threshold = options->threshold}};
    host->emit(host->arg, &there);
    pleat_claimbook_nodes(&site->book, options->index, host);
    *out = &site->base;
    return 0;
}

static int fake_probe(struct pleat_site_instance *base, struct pleat_error *err)
{
    (void)base;
    (void)err;
    return 0;
}

static struct pending *find_claim(struct fake_site *site, uint64_t id, enum pending_kind kind)
{
    for (size_t i = 0; i < site->pending.count; i++)
        if (site->pending.items[i].id == id && site->pending.items[i].kind == kind)
            return &site->pending.items[i];
    return NULL;
}

static int64_t delay(struct fake_site *site, int64_t most)
{
    return (int64_t)pleat_random_below(&site->random, (uint64_t)most + 1);
}

static int schedule(struct fake_site *site, struct pending pending, int64_t delay_us)
{
    if (pleat_array_push(&site->pending, pending))
        return PLEAT_E_NOMEM;
    site->host->later(site->host->arg, delay_us, answer, site, site->pending.count - 1);
    return 0;
}

static void emit_claim(struct fake_site *site, uint16_t kind, const struct pending *what,
                       uint32_t reason)
{
    struct pleat_event event = {
        .kind = kind,
        .component = what->index,
        .u.claim = {.claim = what->id, .count = what->count, .reason = reason}};
    site->host->emit(site->host->arg, &event);
}

/* ---- nodes that come with claims ---- */

static bool brings(const struct fake_site *site)
{
    return site->base.ops->capabilities & PLEAT_SITE_BRINGS_AGENTS;
}

static struct brought *brought_find(struct fake_site *site, uint64_t id)
{
    for (size_t i = 0; i < site->brought.count; i++)
        if (site->brought.items[i].id == id)
            return &site->brought.items[i];
    return NULL;
}

static bool has_node(const struct fake_site *site, uint32_t node)
{
    for (size_t i = 0; i < site->brought.count; i++)
        if (site->brought.items[i].node == node)
            return true;
    return false;
}

/* The claim is not the site's any more; its node has gone with the last one on it. */
static void brought_drop(struct fake_site *site, uint64_t id)
{
    struct brought *one = brought_find(site, id);
    if (!one)
        return;
    struct pleat_event gone = {
        .kind = PLEAT_EV_NODE_GONE, .component = site->index, .u.node = {.node = one->node}};
    *one = site->brought.items[--site->brought.count];
    if (!has_node(site, gone.u.node.node))
        site->host->emit(site->host->arg, &gone);
}

static void announce(struct fake_site *site, const struct pleat_booked *booked)
{
    const struct brought *one = brought_find(site, booked->id);
    if (!one) {
        pleat_claimbook_announce(&site->book, booked, site->host);
        return;
    }
    for (int32_t i = 0; i < booked->count; i++) {
        struct pleat_event piece = {
            .kind = PLEAT_EV_PIECE,
            .component = booked->index,
            .u.piece = {
                .claim = booked->id, .node = one->node, .first = booked->slots[i], .count = 1}};
        site->host->emit(site->host->arg, &piece);
    }
    struct pending what = {.id = booked->id, .index = booked->index, .count = booked->count};
    emit_claim(site, PLEAT_EV_CLAIMED, &what, 0);
}

/* The processors are there: so is, a little later, the agent of their node. */
static void begin_agent(struct fake_site *site, const struct pending *what)
{
    struct brought fresh = {.id = what->id};
    struct pleat_agent_call call;
    struct pending late = *what;
    while (has_node(site, fresh.node))
        fresh.node++;
    if (pleat_array_push(&site->brought, fresh))
        abort();
    late.kind = PENDING_AGENT;
    if (site->host->agent_call(site->host->arg, site->index, fresh.node, &call, NULL) ||
        !call.argv[0])
        abort();
    (void)schedule(site, late, site->options.agent_limit_us);
}

static void fake_agent(struct pleat_site_instance *base, uint32_t node, bool there)
{
    struct fake_site *site = (struct fake_site *)base;
    for (size_t i = 0; there && i < site->brought.count; i++) {
        struct brought *one = &site->brought.items[i];
        if (one->node != node || one->given)
            continue;
        one->given = true;
        announce(site, pleat_claimbook_find(&site->book, one->id));
    }
}

/* No agent has called. */
static void end_agent(struct fake_site *site, const struct pending *what)
{
    const struct brought *one = brought_find(site, what->id);
    if (!one || one->given)
        return;
    pleat_claimbook_drop(&site->book, what->id);
    emit_claim(site, PLEAT_EV_CLAIM_FAILED, what, PLEAT_REASON_CLAIM_FAILED);
    brought_drop(site, what->id);
}

/* The claim waits behind others, which are not simulated. */
static void say_queued(struct fake_site *site, const struct pending *what, int64_t left_us,
                       enum pleat_claim_wait why, int64_t until_us)
{
    int64_t now_us = site->host->now_us(site->host->arg);
    struct pleat_event event = {.kind = PLEAT_EV_CLAIM_WAITS,
                                .component = what->index,
                                .u.waits = {.claim = what->id,
                                            .until_us = until_us,
                                            .expected_us = left_us ? now_us + left_us : 0,
                                            .reason = why}};
    site->host->emit(site->host->arg, &event);
}

/* The first word about a claim is that it waits; then why it does changes once. */
static int begin_queue(struct fake_site *site, const struct pending *claim)
{
    int64_t wait_us = delay(site, site->options.queue_us);
    int64_t patience_us = delay(site, site->options.patience_us);
    say_queued(site, claim, 0, PLEAT_WAIT_TURN,
               patience_us ? site->host->now_us(site->host->arg) + patience_us : 0);
    struct pending word = *claim;
    word.kind = PENDING_QUEUE;
    word.left_us = wait_us - wait_us / 2;
    int rc = schedule(site, word, wait_us / 2);
    return rc ? rc : schedule(site, *claim, wait_us);
}

/* Says until when the processors belong to the claim, or that somebody else takes them by then. */
static void say_end(struct fake_site *site, const struct pending *what)
{
    bool taken = pleat_random_unit(&site->random) < 0.3;
    struct pleat_event event = {.kind = PLEAT_EV_CLAIM_ENDS,
                                .component = what->index,
                                .u.ends = {.claim = what->id,
                                           .end_us = site->host->now_us(site->host->arg) +
                                                     delay(site, site->options.ends_us),
                                           .reason = taken ? PLEAT_REASON_TAKEN : 0}};
    site->host->emit(site->host->arg, &event);
}

/* Somebody takes its processors back, soon. */
static void say_taken(struct fake_site *site, const struct pending *what)
{
    struct pleat_event event = {.kind = PLEAT_EV_CLAIM_ENDS,
                                .component = what->index,
                                .u.ends = {.claim = what->id,
                                           .end_us = site->host->now_us(site->host->arg) + 1 +
                                                     delay(site, site->options.ends_us),
                                           .reason = PLEAT_REASON_TAKEN}};
    site->host->emit(site->host->arg, &event);
}

static void answer_claim(struct fake_site *site, struct pending *what)
{
    struct pleat_site_wish wish = {.id = what->id,
                                   .index = what->index,
                                   .count = what->count,
                                   .beside = what->beside,
                                   .on_one_node = what->on_one_node};
    if (!pleat_claimbook_could(&site->book, &wish)) {
        emit_claim(site, PLEAT_EV_CLAIM_FAILED, what, PLEAT_REASON_CLAIM_CANNOT);
        return;
    }
    if (pleat_random_unit(&site->random) < site->options.fail) {
        emit_claim(site, PLEAT_EV_CLAIM_FAILED, what, PLEAT_REASON_CLAIM_REFUSED);
        return;
    }
    int32_t count = what->count;
    if (count > 1 && pleat_random_unit(&site->random) < site->options.partial)
        count = 1 + (int32_t)pleat_random_below(&site->random, (uint64_t)count);
    struct pleat_booked *booked;
    wish.count = count;
    if (pleat_claimbook_take(&site->book, &wish, &booked)) {
        emit_claim(site, PLEAT_EV_CLAIM_FAILED, what, PLEAT_REASON_CLAIM_REFUSED);
        return;
    }
    if (brings(site))
        begin_agent(site, what);
    else
        announce(site, booked);
    if (!brings(site) && site->options.ends > 0 &&
        pleat_random_unit(&site->random) < site->options.ends)
        say_end(site, what);
    if (site->options.ends > 0 && pleat_random_unit(&site->random) < site->options.ends) {
        struct pending word = *what;
        word.kind = PENDING_TAKEN;
        (void)schedule(site, word, delay(site, site->options.ends_us));
    }
    if (pleat_random_unit(&site->random) < site->options.lose) {
        struct pending loss = *what;
        loss.kind = PENDING_LOSS;
        (void)schedule(site, loss, delay(site, site->options.lose_delay_us));
    }
}

static void answer(void *arg, uint64_t token)
{
    struct fake_site *site = arg;
    struct pending what = site->pending.items[token];
    switch (what.kind) {
    case PENDING_CLAIM:
        if (what.count > 0) /* 0: released before it was answered */
            answer_claim(site, &what);
        break;
    case PENDING_QUEUE:
        if (find_claim(site, what.id, PENDING_CLAIM)->count > 0)
            say_queued(site, &what, what.left_us, PLEAT_WAIT_RESOURCES, 0);
        break;
    case PENDING_TAKEN:
        say_taken(site, &what);
        break;
    case PENDING_AGENT:
        end_agent(site, &what);
        break;
    case PENDING_RELEASE:
        pleat_claimbook_drop(&site->book, what.id);
        emit_claim(site, PLEAT_EV_RELEASED, &what, 0);
        brought_drop(site, what.id);
        break;
    case PENDING_LOSS: {
        const struct pleat_booked *booked = pleat_claimbook_find(&site->book, what.id);
        if (booked) {
            what.count = booked->count;
            pleat_claimbook_drop(&site->book, what.id);
            emit_claim(site, PLEAT_EV_LOST, &what, 0);
            brought_drop(site, what.id);
        }
        break;
    }
    }
}

static int fake_claim(struct pleat_site_instance *base, const struct pleat_site_wish *asked,
                      struct pleat_error *err)
{
    struct fake_site *site = (struct fake_site *)base;
    const struct pleat_booked *booked = pleat_claimbook_find(&site->book, asked->id);
    const struct brought *one = brought_find(site, asked->id);
    if (booked) {
        if (!one || one->given)
            announce(site, booked);
        return 0;
    }
    if (find_claim(site, asked->id, PENDING_CLAIM))
        return 0;
    if (asked->count < 1)
        return pleat_error_set(err, PLEAT_E_INVALID, "a claim of %d processors", asked->count);
    struct pending wish = {.id = asked->id,
                           .index = asked->index,
                           .count = asked->count,
                           .beside = asked->beside,
                           .on_one_node = asked->on_one_node,
                           .kind = PENDING_CLAIM};
    if (site->options.queues > 0 && pleat_random_unit(&site->random) < site->options.queues)
        return begin_queue(site, &wish);
    return schedule(site, wish, delay(site, site->options.claim_delay_us));
}

static int fake_split(struct pleat_site_instance *base, uint64_t id, uint64_t into,
                      uint32_t into_index, int32_t count, struct pleat_error *err)
{
    struct fake_site *site = (struct fake_site *)base;
    if (!pleat_claimbook_find(&site->book, id))
        return 0; /* lost, which the core has not heard yet */
    int rc = pleat_claimbook_split(&site->book, id, into, into_index, count);
    struct brought *one = brought_find(site, id);
    struct brought part = {.id = into, .node = one ? one->node : 0, .given = true};
    if (!rc && one && pleat_array_push(&site->brought, part))
        abort();
    return rc ? pleat_error_set(err, rc, "claim %llu cannot be split", (unsigned long long)id) : 0;
}

static int fake_release(struct pleat_site_instance *base, uint64_t id, uint32_t index,
                        struct pleat_error *err)
{
    struct fake_site *site = (struct fake_site *)base;
    struct pending *asked = find_claim(site, id, PENDING_CLAIM);
    if (asked)
        asked->count = 0; /* not to be given any more */
    struct pending back = {.id = id, .index = index, .kind = PENDING_RELEASE};
    if (schedule(site, back, delay(site, site->options.release_delay_us)))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return 0;
}

static int fake_adopt(struct pleat_site_instance *base, const struct pleat_site_claim *claim,
                      struct pleat_error *err)
{
    struct fake_site *site = (struct fake_site *)base;
    struct brought known = {
        .id = claim->id, .node = claim->piece_count ? claim->pieces[0].node : 0, .given = true};
    int rc = pleat_claimbook_adopt(&site->book, claim);
    if (rc == PLEAT_E_NOMEM)
        return pleat_error_set(err, rc, "out of memory");
    if (!rc && brings(site) && !brought_find(site, claim->id) &&
        pleat_array_push(&site->brought, known))
        abort();
    if (rc) { /* it does not have those processors */
        struct pending gone = {.id = claim->id, .index = claim->index, .count = claim->count};
        emit_claim(site, PLEAT_EV_LOST, &gone, 0);
    }
    return 0;
}

static void fake_close(struct pleat_site_instance *base)
{
    struct fake_site *site = (struct fake_site *)base;
    if (!site)
        return;
    pleat_claimbook_finish(&site->book);
    pleat_array_finish(&site->pending);
    pleat_array_finish(&site->brought);
    free(site);
}

int32_t pleat_fake_site_in_use(const struct pleat_site_instance *base)
{
    const struct fake_site *site = (const struct fake_site *)base;
    return site->book.slots - site->book.free;
}

const struct pleat_site_ops pleat_site_fake = {
    .name = "fake",
    .capabilities = PLEAT_SITE_SPLITS | PLEAT_SITE_GROWS,
    .open = fake_open,
    .probe = fake_probe,
    .claim = fake_claim,
    .split = fake_split,
    .release = fake_release,
    .adopt = fake_adopt,
    .close = fake_close,
};

static int fake_open_bringing(const struct pleat_site_options *options,
                              const struct pleat_host *host, struct pleat_site_instance **out,
                              struct pleat_error *err)
{
    int rc = fake_open(options, host, out, err);
    if (!rc)
        (*out)->ops = &pleat_site_fake_bringing;
    return rc;
}

const struct pleat_site_ops pleat_site_fake_bringing = {
    .name = "fake",
    .capabilities = PLEAT_SITE_SPLITS | PLEAT_SITE_GROWS | PLEAT_SITE_BRINGS_AGENTS,
    .open = fake_open_bringing,
    .probe = fake_probe,
    .claim = fake_claim,
    .split = fake_split,
    .release = fake_release,
    .adopt = fake_adopt,
    .agent = fake_agent,
    .close = fake_close,
};

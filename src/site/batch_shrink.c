#include "site/batch_shrink.h"

#include <inttypes.h>

#include "site/batch_end.h"
#include "wire/message.h"

/* How many of its nodes, from the first one on, are to be kept. */
static size_t count_kept(const struct pleat_batch_allocation *one)
{
    size_t kept = one->nodes.count;
    while (kept > 1 && one->nodes.items[kept - 1].book.claims.count == 0)
        kept--;
    return kept;
}

static size_t count_staying(const struct pleat_batch_allocation *one)
{
    size_t count = 0;
    while (count < one->nodes.count && !one->nodes.items[count].leaves)
        count++;
    return count;
}

/* No claim has processors of a node whose agent has ended meanwhile. */
static void keep_all(const struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    for (size_t i = 0; i < one->nodes.count; i++) {
        struct pleat_batch_node *node = &one->nodes.items[i];
        if (node->leaves && node->step_over && !pleat_batch_agent_is_there(site, node->number))
            node->dead = true;
        node->leaves = false;
    }
}

/* The nodes are the batch system's again. */
static void forget_nodes(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    while (one->nodes.count > 1 && one->nodes.items[one->nodes.count - 1].leaves) {
        struct pleat_batch_node *node = &one->nodes.items[one->nodes.count - 1];
        pleat_batch_say_node_gone(site, node);
        pleat_claimbook_finish(&node->book);
        one->nodes.count--;
    }
}

static void on_kept(void *arg, uint64_t number, const json_t *result,
                    const struct pleat_error *wrong)
{
    struct pleat_batch_site *site = arg;
    struct pleat_batch_allocation *one = pleat_batch_of_number(site, number);
    if (!one || count_staying(one) == one->nodes.count)
        return;
    if (result) {
        forget_nodes(site, one);
        if (one->state == PLEAT_BATCH_HELD)
            pleat_batch_shrink(site, one); /* claims may have left more meanwhile */
        return;
    }
    /* Where it did not answer, it may have done it: the ends of the agents there will tell. */
    one->whole = true;
    keep_all(site, one);
    pleat_batch_say(site,
                    "the allocation %" PRIu32 " keeps its %zu nodes to its end, since %s does not "
                    "take some of them back: %.300s",
                    one->job, one->nodes.count, site->kind->title, wrong->text);
}

void pleat_batch_shrink(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    size_t kept = count_kept(one);
    bool may = site->kind->gives_nodes && site->kind->gives_nodes(site->options);
    if (!may || one->ends || one->state != PLEAT_BATCH_HELD || one->taken || one->whole ||
        !site->synced || kept == one->nodes.count || count_staying(one) < one->nodes.count)
        return;
    json_t *nodes = json_array();
    for (size_t i = 0; i < kept; i++)
        json_array_append_new(nodes, pleat_json_text(one->nodes.items[i].host));
    for (size_t i = kept; i < one->nodes.count; i++)
        one->nodes.items[i].leaves = true;
    pleat_batch_adapter_ask(
        site->adapter, "keep",
        json_pack("{sIssso}", "job", (json_int_t)one->job, "name", one->name, "nodes", nodes),
        on_kept, one->number);
}

#include "site/batch_found.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "site/batch_end.h"
#include "wire/reply.h"

/* Reads the numbers in the name of a job; false: the job is not this site's. */
static bool read_name(const struct pleat_batch_site *site, const char *name, uint32_t *node,
                      uint64_t *claim)
{
    size_t length = strlen(site->prefix);
    int end = 0;
    return !strncmp(name, site->prefix, length) &&
           sscanf(name + length, "%" SCNu32 ":%" SCNu64 ".%n", node, claim, &end) == 2 && end > 0;
}

/* Whether an allocation of an earlier pleatd, whose claims are known, has some of the `count`
 * nodes. */
static bool has_some_of(const struct pleat_batch_allocation *one, uint32_t first, uint32_t count)
{
    for (size_t i = 0; i < one->nodes.count; i++)
        if (one->nodes.items[i].number - first < count)
            return true;
    return false;
}

static uint32_t node_count(const json_t *job)
{
    size_t count = json_array_size(pleat_reply_array(job, "nodes"));
    return count < 1 ? 1 : count < PLEAT_BATCH_NODES ? (uint32_t)count : PLEAT_BATCH_NODES;
}

static struct pleat_batch_allocation *match(struct pleat_batch_site *site, const json_t *job,
                                            uint32_t node, uint64_t claim)
{
    struct pleat_batch_allocation *one =
        pleat_batch_of_job(site, (uint32_t)pleat_reply_int(job, "job", 0));
    if (one && pleat_reply_is(job, "name", one->name))
        return one;
    for (size_t i = 0; i < site->allocations.count; i++) {
        one = site->allocations.items[i];
        bool is_its =
            one->nodes.count ? has_some_of(one, node, node_count(job)) : one->wish.id == claim;
        if (one->job == 0 && one->state != PLEAT_BATCH_ASKED && !one->asked && is_its)
            return one;
    }
    return NULL;
}

/* Joins records that turn out to be of one allocation: which claims have its other nodes was not
 * known before. */
static void gather(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                   uint32_t first, uint32_t count)
{
    for (size_t i = site->allocations.count; one->nodes.count && i-- > 0;) {
        struct pleat_batch_allocation *other = site->allocations.items[i];
        if (other == one || other->state != PLEAT_BATCH_ADOPTED || other->job ||
            !has_some_of(other, first, count))
            continue;
        pleat_batch_join(one, other);
        pleat_batch_remove(site, other);
    }
}

static bool is_on_its_way(const struct pleat_batch_site *site, uint64_t claim)
{
    for (size_t i = 0; i < site->allocations.count; i++) {
        const struct pleat_batch_allocation *one = site->allocations.items[i];
        if ((one->asked || one->state == PLEAT_BATCH_ASKED) && one->wish.id == claim)
            return true;
    }
    return false;
}

void pleat_batch_found(struct pleat_batch_site *site, const json_t *job)
{
    uint32_t first;
    uint64_t claim;
    if (!read_name(site, pleat_reply_text(job, "name", ""), &first, &claim))
        return;
    bool ending = pleat_reply_is(job, "state", "ending");
    struct pleat_batch_allocation *one = match(site, job, first, claim);
    if (!one && (ending || is_on_its_way(site, claim)))
        return;
    if (!one) {
        one = pleat_batch_new(site, PLEAT_BATCH_STRAY);
        one->wish.id = claim;
        pleat_batch_look_later(site, one, PLEAT_BATCH_STRAY_US);
    }
    gather(site, one, first, node_count(job));
    const struct pleat_batch_allocation *other = pleat_batch_of_node(site, first, NULL);
    if (!one->numbered && other && other != one) {
        pleat_batch_number_nodes(site, one, node_count(job));
    } else if (!one->numbered) {
        uint32_t room = pleat_batch_room(&one->wish);
        one->first = first;
        one->room = room > node_count(job) ? room : node_count(job);
        one->numbered = true;
    }
    one->seen = true;
    if (ending)
        pleat_batch_found_ending(site, one, job);
    else
        pleat_batch_job_is(site, one, job);
}

#include "site/batch_found.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/batch_end.h"
#include "wire/reply.h"

/* A job that the batch system lists, and what its name says. */
struct listed {
    const json_t *job;
    size_t place; /* in the list */
    bool ending;
    uint32_t first; /* the number of its first node */
    uint64_t claim;
};

/* False: the job is not this site's. */
static bool read_listed(const struct pleat_batch_site *site, const json_t *job, size_t place,
                        struct listed *listed)
{
    const char *name = pleat_reply_text(job, "name", "");
    size_t length = strlen(site->prefix);
    int end = 0;
    *listed = (struct listed){
        .job = job, .place = place, .ending = pleat_reply_is(job, "state", "ending")};
    return !strncmp(name, site->prefix, length) &&
           sscanf(name + length, "%" SCNu32 ":%" SCNu64 ".%n", &listed->first, &listed->claim,
                  &end) == 2 &&
           end > 0;
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

static struct pleat_batch_allocation *match(struct pleat_batch_site *site,
                                            const struct listed *listed)
{
    const json_t *job = listed->job;
    struct pleat_batch_allocation *one =
        pleat_batch_of_job(site, (uint32_t)pleat_reply_int(job, "job", 0));
    if (one && pleat_reply_is(job, "name", one->name))
        return one;
    for (size_t i = 0; i < site->allocations.count; i++) {
        one = site->allocations.items[i];
        bool is_its = one->nodes.count ? has_some_of(one, listed->first, node_count(job))
                                       : one->wish.id == listed->claim;
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

static void found(struct pleat_batch_site *site, const struct listed *listed)
{
    const json_t *job = listed->job;
    uint32_t first = listed->first;
    struct pleat_batch_allocation *one = match(site, listed);
    if (!one && (listed->ending || is_on_its_way(site, listed->claim)))
        return;
    if (!one) {
        one = pleat_batch_new(site, PLEAT_BATCH_STRAY);
        one->wish.id = listed->claim;
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
    if (listed->ending)
        pleat_batch_found_ending(site, one, job);
    else
        pleat_batch_job_is(site, one, job);
}

/* Those that end after the others; later claims, whose numbers are greater, before earlier ones. */
static int compare(const void *one, const void *two)
{
    const struct listed *a = one, *b = two;
    if (a->ending != b->ending)
        return a->ending - b->ending;
    if (a->claim != b->claim)
        return a->claim < b->claim ? 1 : -1;
    return a->place < b->place ? -1 : 1;
}

/* What was given back is listed until the batch system has cleared it away, and its nodes' numbers
 * may be those of a later allocation by then. So of two with the same numbers the one that does
 * not end is the one that is held, or else the later one. */
void pleat_batch_found(struct pleat_batch_site *site, const json_t *jobs)
{
    size_t i, count = 0;
    const json_t *job;
    struct listed *all = malloc((json_array_size(jobs) + 1) * sizeof(*all));
    if (!all)
        abort();
    json_array_foreach(jobs, i, job) count += read_listed(site, job, i, &all[count]);
    qsort(all, count, sizeof(*all), compare);
    for (i = 0; i < count; i++)
        found(site, &all[i]);
    free(all);
}

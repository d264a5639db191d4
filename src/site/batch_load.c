#include "site/batch_load.h"

#include <stdlib.h>

#include "site/batch_guests.h"
#include "site/batch_kind.h"
#include "wire/reply.h"

/* Answers that are less apart are taken for the same one: the adapter keeps the last. */
#define APART_US INT64_C(200000)

/* ---- what is told ---- */

static enum pleat_batch_background counts_for(const struct pleat_batch_site *site)
{
    int choice = site->options->background;
    if (choice == PLEAT_BATCH_BACKGROUND_AUTO)
        return site->options->grow_us > 0 ? PLEAT_BATCH_IGNORED : PLEAT_BATCH_LEFT_BY_GROWTH;
    return (enum pleat_batch_background)choice;
}

void pleat_batch_tell_size(struct pleat_batch_site *site, int32_t capacity, int32_t others)
{
    if (site->processors > 0 && capacity > site->processors)
        capacity = site->processors;
    bool sized = capacity != site->capacity || site->largest != site->told_most ||
                 site->whole != site->told_whole;
    if (!sized && others == site->others)
        return;
    const struct pleat_event event = {
        .kind = sized ? PLEAT_EV_SITE : PLEAT_EV_BACKGROUND,
        .flags = counts_for(site) == PLEAT_BATCH_LEFT_BY_GROWTH ? PLEAT_SITE_QUEUES : 0,
        .component = site->index,
        .u.site = {.capacity = sized ? capacity : 0,
                   .threshold = sized ? site->threshold : 0,
                   .background = others,
                   .node_most = sized ? site->largest : 0,
                   .whole = sized ? site->whole : 0}};
    site->capacity = capacity;
    site->told_most = site->largest;
    site->told_whole = site->whole;
    site->others = others;
    site->host->emit(site->host->arg, &event);
}

/* ---- what is there ---- */

struct size {
    int64_t cpus,
        others;    /* of nodes that take jobs, of Pleat or of those for whom they are reserved */
    int64_t whole; /* of these, and of those that may take jobs again */
};

static bool takes_jobs(const struct pleat_batch_site *site, const json_t *node)
{
    return !pleat_reply_is(node, "state", "down") && !pleat_reply_is(node, "state", "drained") &&
           !pleat_reply_is(node, "state", "outside") &&
           !pleat_batch_is_shut(site, pleat_reply_text(node, "name", ""));
}

/* What others use of a node is kept with it: what is given back later is not theirs. */
static struct size add_up(struct pleat_batch_site *site, json_t *nodes)
{
    struct size size = {0};
    size_t i;
    json_t *node;
    site->largest = 0;
    json_array_foreach(nodes, i, node)
    {
        int32_t own = pleat_reply_small(node, "cpus", 0, PLEAT_BATCH_NODE_CPUS);
        site->largest = own > site->largest ? own : site->largest;
        pleat_batch_note_reservation(site, node);
        json_object_set_new(node, "others",
                            json_integer((json_int_t)pleat_batch_others_on(site, node)));
        if (pleat_batch_may_return(site, node))
            size.whole += own;
        if (!takes_jobs(site, node))
            continue;
        size.cpus += own;
        size.others += pleat_batch_kept_on(site, node);
    }
    return size;
}

/* An allocation that comes or goes while the batch system is asked may look like somebody else's:
 * what others use has grown when two answers say so. */
static int64_t settled(struct pleat_batch_site *site, int64_t others)
{
    int64_t before = site->others_us ? site->others_before : others;
    if (site->others_us && site->hosts_us - site->others_us < APART_US)
        return site->others < others ? site->others : others;
    site->others_us = site->hosts_us;
    site->others_before = others;
    return others < before ? others : before;
}

/* What others use beyond what is not this site's anyway. */
static int32_t others_of(struct pleat_batch_site *site, struct size size, int64_t capacity)
{
    if (counts_for(site) == PLEAT_BATCH_IGNORED)
        return 0;
    int64_t others = settled(site, size.others) - (size.cpus - capacity);
    return others < 0 ? 0 : others < capacity ? (int32_t)others : (int32_t)capacity;
}

/* What Pleat has of so many CPUs: no more than the partition lets it have, and its user. */
static int32_t within(const struct pleat_batch_site *site, int64_t cpus)
{
    if (site->partition_cpus > 0 && cpus > site->partition_cpus)
        cpus = site->partition_cpus;
    if (site->processors > 0 && cpus > site->processors)
        cpus = site->processors;
    return cpus < PLEAT_BATCH_UNKNOWN ? (int32_t)cpus : PLEAT_BATCH_UNKNOWN;
}

/* All of them have come. */
static void take_nodes(struct pleat_batch_site *site)
{
    struct size size = add_up(site, site->hosts);
    int32_t capacity = within(site, size.cpus);
    site->whole = within(site, size.whole);
    pleat_batch_tell_size(site, capacity, others_of(site, size, capacity));
    pleat_batch_say_more(site);
}

static void ask_from(struct pleat_batch_site *site, int64_t from);

/* token: the number of the first one. */
static void on_nodes(void *arg, uint64_t token, const json_t *result,
                     const struct pleat_error *wrong)
{
    struct pleat_batch_site *site = arg;
    int64_t next = pleat_reply_int(result, "next", 0);
    (void)wrong;
    if (token == 0) {
        json_decref(site->coming_hosts);
        site->coming_hosts = json_array();
    }
    if (result && json_array_extend(site->coming_hosts, pleat_reply_array(result, "nodes")))
        abort();
    if (result && next > (int64_t)token) {
        ask_from(site, next);
        return;
    }
    site->asking_nodes = false;
    if (!site->nodes_answered) /* some wishes wait for this */
        for (size_t i = 0; i < site->allocations.count; i++)
            if (site->allocations.items[i]->state == PLEAT_BATCH_WANTED)
                site->host->later(site->host->arg, 0, site->on_time, site,
                                  site->allocations.items[i]->number);
    site->nodes_answered = true;
    if (!result)
        return; /* it is as it was */
    json_decref(site->hosts);
    site->hosts = site->coming_hosts;
    site->coming_hosts = NULL;
    site->hosts_us =
        site->host->now_us(site->host->arg) - pleat_reply_int(result, "age_ms", 0) * 1000;
    take_nodes(site);
}

static void ask_from(struct pleat_batch_site *site, int64_t from)
{
    pleat_batch_adapter_ask(site->adapter, "nodes", json_pack("{sI}", "from", (json_int_t)from),
                            on_nodes, (uint64_t)from);
}

void pleat_batch_ask_nodes(struct pleat_batch_site *site)
{
    if (site->asking_nodes)
        return;
    site->asking_nodes = true;
    ask_from(site, 0);
}

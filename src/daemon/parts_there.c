/* parts_there.c - which parts of a run are on a node, and what that node's agent keeps of them. */
#include "daemon/agent.h"
#include "daemon/agent_link.h"
#include "daemon/parts_inside.h"
#include "wire/message.h"

/* ---- numbers ---- */

/* On its agent a part of a malleable run, and a process of one that asks for more, is a run of its
 * own, so that several can be there beside one another: the number has that of the part above that
 * of the run. An agent of an earlier Pleat has all parts under the number of the run, one at a
 * time. */
#define RUN_BITS 40
#define RUN_MASK ((UINT64_C(1) << RUN_BITS) - 1)
#define PARTS_MOST (UINT64_C(1) << 22)

uint64_t parts_run_of(uint64_t there)
{
    return there & RUN_MASK;
}

void part_take_number(struct daemon *d, struct part *part, bool has_mailbox)
{
    const bool own = has_mailbox && part->number < PARTS_MOST &&
                     agent_knows(d, part->site, part->node, PLEAT_FEATURE_BESIDE);
    part->there = own ? (uint64_t)part->number << RUN_BITS | part->run : part->run;
}

json_t *part_copy(const json_t *params, uint64_t run)
{
    json_t *made = json_deep_copy(params);
    if (made && !json_object_set_new(made, "run", json_integer((json_int_t)run)))
        return made;
    json_decref(made);
    return NULL;
}

/* ---- finding ---- */

bool part_is_live(const struct part *part)
{
    return part->state == PART_SENT || part->state == PART_STARTED;
}

struct part *parts_find(struct daemon *d, uint64_t run, uint32_t number)
{
    for (size_t i = 0; i < d->parts.items.count; i++)
        if (d->parts.items.items[i].run == run && d->parts.items.items[i].number == number)
            return &d->parts.items.items[i];
    return NULL;
}

bool part_is_with(const struct part *part, const struct part *other)
{
    return other != part && other->run == part->run && other->site == part->site &&
           other->node == part->node;
}

/* there: 0: whatever it is. */
static struct part *find_on(struct daemon *d, const struct part *like, uint64_t there)
{
    struct part *last = NULL;
    for (size_t i = 0; i < d->parts.items.count; i++) {
        struct part *part = &d->parts.items.items[i];
        if (part_is_with(like, part) && (!there || part->there == there) &&
            (!last || part_is_live(part) || (part->number > last->number && !part_is_live(last))))
            last = part;
    }
    return last;
}

struct part *parts_find_on(struct daemon *d, uint64_t run, uint32_t site, uint32_t node)
{
    const struct part like = {.run = run, .site = site, .node = node};
    return find_on(d, &like, 0);
}

struct part *parts_find_there(const struct agent *agent, uint64_t there)
{
    const struct part like = {.run = parts_run_of(there), .site = agent->site, .node = agent->node};
    return there ? find_on(agent->daemon, &like, there) : NULL;
}

/* ---- beside one another ---- */

bool part_has_room(struct daemon *d, const struct part *part)
{
    for (size_t i = 0; part->role != PART_PROCESS && i < d->parts.items.count; i++) {
        const struct part *other = &d->parts.items.items[i];
        const bool beside = part->role == PART_NEW && other->role == PART_NOW &&
                            other->state == PART_STARTED && part->there != other->there;
        if (part_is_with(part, other) && part_is_live(other) && !beside)
            return false;
    }
    return true;
}

bool parts_is_followed(struct daemon *d, const struct part *part)
{
    for (size_t i = 0; i < d->parts.items.count; i++) {
        const struct part *other = &d->parts.items.items[i];
        if (part_is_with(part, other) && other->number > part->number && other->role != PART_NEW)
            return true;
    }
    return false;
}

/* ---- what is kept ---- */

void part_request(struct daemon *d, uint32_t site, uint32_t node, const char *method,
                  json_t *params)
{
    struct pleat_error err = {0};
    if (!params || agent_send(d, site, node, method, params, &err))
        daemon_log("the agent of node %u cannot be told '%s': %s", node, method,
                   params ? err.text : "out of memory");
}

void part_forget(struct daemon *d, struct part *part)
{
    part->forgotten = true;
    if (part->there)
        part_request(d, part->site, part->node, "forget",
                     json_pack("{s:I}", "run", (json_int_t)part->there));
}

void part_forget_before(struct daemon *d, const struct part *part)
{
    for (size_t i = 0; i < d->parts.items.count; i++) {
        struct part *other = &d->parts.items.items[i];
        if (part_is_with(part, other) && other->state == PART_ENDED && !other->forgotten &&
            other->there && other->there != part->there)
            part_forget(d, other);
    }
}

void part_forget_after(struct daemon *d, struct part *part)
{
    for (size_t i = 0; i < d->parts.items.count; i++) {
        const struct part *other = &d->parts.items.items[i];
        if (part_is_with(part, other) && other->state == PART_STARTED && other->has_state &&
            part->there && other->there != part->there) {
            part_forget(d, part);
            return;
        }
    }
}

void parts_leave_node(struct daemon *d, const struct part *part)
{
    for (size_t i = 0; i < d->parts.items.count; i++) {
        struct part *other = &d->parts.items.items[i];
        if ((other != part && !part_is_with(part, other)) || other->state != PART_ENDED)
            continue;
        other->left = true;
        other->state_lost = false;
        if (!other->forgotten)
            part_forget(d, other);
    }
}

const struct part *part_before(struct daemon *d, const struct part *part)
{
    const struct part *last = NULL;
    for (size_t i = 0; i < d->parts.items.count; i++) {
        const struct part *other = &d->parts.items.items[i];
        if (part_is_with(part, other) && other->has_state && !other->left && !other->forgotten &&
            (!last || other->number > last->number))
            last = other;
    }
    return last;
}

bool part_has_lost_state(struct daemon *d, const struct part *part)
{
    for (size_t i = 0; i < d->parts.items.count; i++)
        if (part_is_with(part, &d->parts.items.items[i]) && d->parts.items.items[i].state_lost)
            return true;
    return false;
}

/* ---- a run that is led from another node than before ---- */

uint64_t parts_kept_on(struct daemon *d, uint64_t run, uint32_t site, uint32_t node, uint32_t *last)
{
    const struct part like = {.run = run, .site = site, .node = node};
    const struct part *kept = part_before(d, &like);
    *last = 0;
    for (size_t i = 0; i < d->parts.items.count; i++)
        if (d->parts.items.items[i].run == run && d->parts.items.items[i].number > *last)
            *last = d->parts.items.items[i].number;
    return kept && kept->state == PART_ENDED && !part_has_lost_state(d, &like) ? kept->there : 0;
}

void parts_forget_lead(struct daemon *d, uint32_t site, uint32_t node, uint64_t run)
{
    part_request(d, site, node, "forget", json_pack("{s:I}", "run", (json_int_t)run));
}

void parts_led_here(struct agent *agent, uint64_t run)
{
    struct daemon *d = agent->daemon;
    for (size_t i = 0; i < d->parts.items.count; i++) {
        struct part *part = &d->parts.items.items[i];
        if (part->run == run && part->site == agent->site && part->node == agent->node &&
            part->state == PART_ENDED && part->there && part->there != run && !part->forgotten)
            part_forget(d, part);
    }
}

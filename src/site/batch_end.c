#include "site/batch_end.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "site/batch_guests.h"
#include "wire/message.h"
#include "wire/reply.h"

enum {
    ENDING_S = 7,       /* what an agent needs to end what is left */
    HOLD_LEAST_S = 5,   /* a shorter time is of no use */
    HOLD_MOST_S = 86400 /* KillWait has 16 bits */
};

int64_t pleat_batch_now_us(const struct pleat_batch_site *site)
{
    return site->host->now_us(site->host->arg);
}

void pleat_batch_look_later(struct pleat_batch_site *site, const struct pleat_batch_allocation *one,
                            int64_t delay_us)
{
    site->host->later(site->host->arg, delay_us, site->on_time, site, one->number);
}

void pleat_batch_refuse(struct pleat_batch_site *site, const struct pleat_batch_allocation *one,
                        enum pleat_reason why)
{
    pleat_batch_say_claim(site, PLEAT_EV_CLAIM_FAILED, one->wish.id, one->wish.index, 0, why);
}

bool pleat_batch_is_unreachable(int code)
{
    return code == PLEAT_E_CLOSED || code == PLEAT_E_TIMEOUT;
}

/* Its nodes are gone. Of one whose nodes are not in the books an earlier pleatd may have told. */
static void drop(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    bool unbooked = one->numbered && one->nodes.count == 0;
    pleat_batch_say_gone(site, one);
    pleat_batch_remove(site, one);
    if (unbooked)
        pleat_batch_say_known(site);
}

/* ---- giving back ---- */

void pleat_batch_finish_end(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    if (one->answers)
        pleat_batch_say_claim(site, PLEAT_EV_RELEASED, one->wish.id, one->wish.index, 0,
                              PLEAT_REASON_NONE);
    drop(site, one);
    pleat_batch_say_more(site);
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
        pleat_batch_finish_end(site, one);
        return;
    }
    if (!pleat_batch_is_unreachable(wrong->code))
        pleat_batch_say(site, "job %" PRIu32 " cannot be ended: %.400s", one->job, wrong->text);
    pleat_batch_look_later(site, one, PLEAT_BATCH_AGAIN_US);
}

void pleat_batch_ask_to_release(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    if (!one->job || one->releasing || !site->synced)
        return; /* whether there is something to release is not known yet */
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
    for (size_t i = 0; one->is_guest && site->host->node_quit && i < one->nodes.count; i++)
        site->host->node_quit(site->host->arg, site->index, one->nodes.items[i].number);
    if (before == PLEAT_BATCH_WANTED)
        pleat_batch_finish_end(site, one);
    else
        pleat_batch_ask_to_release(site, one);
}

/* ---- lost ---- */

void pleat_batch_is_over(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                         const char *why)
{
    switch (one->state) {
    case PLEAT_BATCH_ENDING:
        pleat_batch_finish_end(site, one);
        return;
    case PLEAT_BATCH_QUEUED:
        pleat_batch_say(site, "job %" PRIu32 " (%s) was ended in the queue: %.200s", one->job,
                        one->name, why);
        pleat_batch_tell(site, one, NULL,
                         "%s ended its request %" PRIu32 " while it waited there: %.200s",
                         site->kind->title, one->job, why);
        pleat_batch_refuse(site, one, PLEAT_REASON_CLAIM_REFUSED);
        break;
    case PLEAT_BATCH_STARTING:
        pleat_batch_say(site, "the allocation %" PRIu32 " on %s ended before it was used: %.200s",
                        one->job, pleat_batch_hosts(one), why);
        pleat_batch_tell(site, one, NULL,
                         "%s ended its allocation %" PRIu32 " before it was used: %.200s",
                         site->kind->title, one->job, why);
        pleat_batch_refuse(site, one, PLEAT_REASON_CLAIM_FAILED);
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
    drop(site, one);
}

/* ---- being taken away ---- */

/* Between SIGTERM and SIGKILL the batch system leaves some time. An agent that ends what is left
 * needs the last part of it: 5 s of grace, and what it takes to see the end. A shorter rest is no
 * use. */
int64_t pleat_batch_hold_us(const struct pleat_batch_site *site)
{
    int64_t hold_s = pleat_reply_int(site->offer.cluster, "kill_wait_s", 0) - ENDING_S;
    return hold_s < HOLD_LEAST_S  ? 0
           : hold_s < HOLD_MOST_S ? hold_s * PLEAT_US_PER_S
                                  : HOLD_MOST_S * PLEAT_US_PER_S;
}

/* Its jobs leave it, or are ended there, as before the end of its time. */
static void take_back(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                      int64_t leave_us, const char *why)
{
    int left_s = (int)((leave_us - pleat_batch_now_us(site)) / PLEAT_US_PER_S);
    one->taken = true;
    if (one->end_us == 0 || one->leave_us > leave_us) {
        one->end_us = leave_us + ENDING_S * PLEAT_US_PER_S;
        one->leave_us = leave_us;
    }
    pleat_batch_say(site, "%s ends the allocation %" PRIu32 " on %s (%.200s): jobs leave it",
                    site->kind->title, one->job, pleat_batch_hosts(one), why);
    pleat_batch_tell(site, one, NULL,
                     one->wish.stays && !one->is_guest
                         ? "%s ends its allocation %" PRIu32 " on %s (%.200s): its processes "
                           "cannot leave it, since it folds, and have %d s to end"
                         : "%s ends its allocation %" PRIu32 " on %s (%.200s): it has %d s to "
                           "leave it",
                     site->kind->title, one->job, pleat_batch_hosts(one), why, left_s);
    pleat_batch_say_end(site, one);
}

void pleat_batch_is_ending(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                           const json_t *how)
{
    const char *why = pleat_reply_text(how, "why", "");
    int64_t now_us = pleat_batch_now_us(site), end_s = pleat_reply_int(how, "end", 0);
    bool said = end_s > 0 && end_s <= now_us / PLEAT_US_PER_S;
    int64_t leave_us = (said ? end_s * PLEAT_US_PER_S : now_us) + pleat_batch_hold_us(site);
    if (one->state == PLEAT_BATCH_ENDING || one->taken)
        return; /* as this site wants it; or told already */
    if (one->state == PLEAT_BATCH_HELD && !site->offer.cluster) {
        one->ends = true;
        one->ends_s = end_s;
        snprintf(one->ends_why, sizeof(one->ends_why), "%s", why);
        return;
    }
    if (one->state == PLEAT_BATCH_HELD && leave_us > now_us && strcmp(why, "NODE_FAIL") != 0 &&
        (one->adopted || pleat_batch_agents_are_there(site, one)))
        take_back(site, one, leave_us, why);
    else
        pleat_batch_is_over(site, one, why);
}

void pleat_batch_look_at_ending(struct pleat_batch_site *site)
{
    for (size_t i = site->allocations.count; i-- > 0;) {
        struct pleat_batch_allocation *one = site->allocations.items[i];
        json_t *how =
            one->ends ? json_pack("{sssI}", "why", one->ends_why, "end", (json_int_t)one->ends_s)
                      : NULL;
        one->ends = false;
        if (how)
            pleat_batch_is_ending(site, one, how);
        json_decref(how);
    }
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

void pleat_batch_fail(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                      const char *why)
{
    pleat_batch_say(site, "the allocation %" PRIu32 " on %s is given back: %.400s", one->job,
                    pleat_batch_hosts(one), why);
    pleat_batch_tell(site, one, NULL, "its allocation %" PRIu32 " on %s is given back: %.400s",
                     one->job, pleat_batch_hosts(one), why);
    snprintf(site->offer.agent_trouble, sizeof(site->offer.agent_trouble), "%.390s", why);
    pleat_batch_refuse(site, one, PLEAT_REASON_CLAIM_FAILED);
    pleat_batch_end(site, one, false);
}

#include "site/batch_agents.h"

#include <stdio.h>
#include <string.h>

#include "site/batch_books.h"
#include "site/batch_end.h"
#include "site/batch_guests.h"
#include "wire/message.h"
#include "wire/reply.h"

/* The time within which an agent calls again that is not cut off any more: it notices after 30 s
 * that it was, and pauses up to 5 s. */
#define BACK_US INT64_C(40000000)

/* ---- its agents ---- */

/* A request to start an agent is identified by its allocation and the node's place in that. */
enum { NODE_BITS = 13 }; /* PLEAT_BATCH_NODES are fewer */

static void on_run(void *arg, uint64_t token, const json_t *result, const struct pleat_error *wrong)
{
    struct pleat_batch_site *site = arg;
    struct pleat_batch_allocation *one = pleat_batch_of_number(site, token >> NODE_BITS);
    size_t place = token & ((1U << NODE_BITS) - 1);
    if (!one || result || one->state != PLEAT_BATCH_STARTING || place >= one->nodes.count)
        return;
    if (!pleat_batch_is_unreachable(wrong->code)) {
        pleat_batch_fail(site, one, wrong->text);
        return;
    }
    one->nodes.items[place].called = false;
    pleat_batch_look_later(site, one, PLEAT_BATCH_AGAIN_US);
}

/* Starts the agent of a node. False: it failed, and the allocation is given back. */
static bool start_agent(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                        size_t place)
{
    struct pleat_batch_node *node = &one->nodes.items[place];
    struct pleat_agent_call call;
    struct pleat_error err;
    if (site->host->agent_call(site->host->arg, site->index, node->number, &call, &err)) {
        pleat_batch_fail(site, one, err.text);
        return false;
    }
    json_t *argv = json_array();
    node->called = true;
    for (size_t i = 0; call.argv[i]; i++)
        json_array_append_new(argv, pleat_json_text(call.argv[i]));
    json_array_append_new(argv, json_string("--processors"));
    json_array_append_new(argv, json_sprintf("%d", (int)pleat_batch_node_size(node)));
    if (one->is_guest)
        json_array_append_new(argv, json_string("--choose"));
    /* its processors are wanted for as long as pleatd waits for it */
    json_array_append_new(argv, json_string("--call"));
    json_array_append_new(argv, json_sprintf("%d", (int)(site->options->agent_us / 1000000)));
    if (pleat_batch_hold_us(site)) {
        json_array_append_new(argv, json_string("--hold"));
        json_array_append_new(argv, json_sprintf("%d", (int)(pleat_batch_hold_us(site) / 1000000)));
    }
    if (site->kind->announces)
        json_array_append_new(argv, json_string("--announced"));
    json_t *params =
        json_pack("{sIsssosssb}", "job", (json_int_t)one->job, "node", node->host, "argv", argv,
                  "input", call.input ? call.input : "", "secret", call.input != NULL);
    pleat_batch_adapter_ask(site->adapter, "run", params, on_run, one->number << NODE_BITS | place);
    return true;
}

void pleat_batch_start_agents(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    for (size_t i = 0; site->synced && i < one->nodes.count; i++) {
        const struct pleat_batch_node *node = &one->nodes.items[i];
        if (!node->called && !pleat_batch_agent_is_there(site, node->number) &&
            !start_agent(site, one, i))
            return;
    }
}

void pleat_batch_hold(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    one->state = PLEAT_BATCH_HELD;
    pleat_batch_say_home(site, one);
    pleat_batch_announce(site, one, one->wish.id);
    pleat_batch_say_more(site);
}

/* ---- agents that do not come back ---- */

/* How long an agent may be away without a word: one that was cut off for a moment calls again. */
static int64_t calls_us(const struct pleat_batch_site *site)
{
    return site->options->agent_us > BACK_US ? site->options->agent_us : BACK_US;
}

/* How long it may be away: until it has surely ended what it ran, which would run twice otherwise.
 * Its end is told sooner only by the adapter that started it, and by no other one; and there are
 * batch systems that never say that a node is gone. PLEAT_NEVER: for ever. */
static int64_t ends_us(const struct pleat_batch_site *site)
{
    const struct pleat_host *host = site->host;
    int64_t most_us = host->agent_ends_us ? host->agent_ends_us(host->arg) : 0;
    return most_us > calls_us(site) ? most_us : calls_us(site);
}

void pleat_batch_count_away(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    bool some = false;
    for (size_t i = 0; i < one->nodes.count; i++) {
        struct pleat_batch_node *node = &one->nodes.items[i];
        bool away = !node->dead && !pleat_batch_agent_is_there(site, node->number);
        node->away_us = away ? pleat_batch_now_us(site) : 0;
        some = some || away;
    }
    if (some)
        pleat_batch_look_later(site, one, calls_us(site));
}

static void tell_away(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                      struct pleat_batch_node *node, int64_t away_us)
{
    char then[80] = "it is waited for";
    if (ends_us(site) != PLEAT_NEVER)
        snprintf(then, sizeof(then), "it is given up after %.0f s (agent_orphan_s)",
                 (double)ends_us(site) / 1e6);
    node->away_told = true;
    pleat_batch_tell(site, one, node,
                     "the agent on %s has not called for %.0f s, its node may be cut off: %s",
                     node->host, (double)away_us / 1e6, then);
}

/* Gives up a node whose agent has ended by now. Returns when to look again, from now on; 0: there
 * is nothing to look for. */
static int64_t look_at_away(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                            struct pleat_batch_node *node)
{
    int64_t away_us = pleat_batch_now_us(site) - node->away_us, most_us = ends_us(site);
    char why[PLEAT_BATCH_HOST_ROOM + 80];
    if (node->dead || node->leaves || !node->away_us)
        return 0;
    if (away_us < calls_us(site))
        return calls_us(site) - away_us;
    if (away_us < most_us) {
        if (!node->away_told)
            tell_away(site, one, node, away_us);
        return most_us == PLEAT_NEVER ? 0 : most_us - away_us;
    }
    snprintf(why, sizeof(why), "the agent on %s has not called for %.0f s", node->host,
             (double)away_us / 1e6);
    pleat_batch_lose(site, one, node, why);
    return 0;
}

void pleat_batch_look_for_away(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    int64_t next_us = 0;
    if (!site->synced || site->silent) {
        pleat_batch_count_away(site, one);
        return;
    }
    for (size_t i = 0; i < one->nodes.count && one->state == PLEAT_BATCH_HELD; i++) {
        int64_t left_us = look_at_away(site, one, &one->nodes.items[i]);
        next_us = left_us > 0 && (next_us == 0 || left_us < next_us) ? left_us : next_us;
    }
    if (next_us > 0 && one->state == PLEAT_BATCH_HELD)
        pleat_batch_look_later(site, one, next_us);
}

void pleat_batch_agent_is(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                          struct pleat_batch_node *node, bool there)
{
    node->away_us = there ? 0 : pleat_batch_now_us(site);
    if (there && node->away_told)
        pleat_batch_tell(site, one, node, "the agent on %s has called again", node->host);
    node->away_told = false;
    if (there && one->state == PLEAT_BATCH_STARTING && pleat_batch_agents_are_there(site, one))
        pleat_batch_hold(site, one);
    else if (!there && one->state == PLEAT_BATCH_HELD && node->step_over && !node->dead &&
             !node->leaves)
        pleat_batch_lose(site, one, node, "its agent has ended");
    else if (!there && one->state == PLEAT_BATCH_HELD)
        pleat_batch_look_later(site, one, calls_us(site));
}

/* The node of the allocation that a notice is about; NULL: none. */
static struct pleat_batch_node *node_called(struct pleat_batch_allocation *one, const char *host)
{
    for (size_t i = 0; i < one->nodes.count; i++)
        if (!strcmp(one->nodes.items[i].host, host))
            return &one->nodes.items[i];
    return NULL;
}

/* The last line that is not empty: lines before it are remarks. */
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
        pleat_batch_fail(site, one, why);
    else if (one->state == PLEAT_BATCH_HELD && !node->dead && !node->leaves &&
             !pleat_batch_agent_is_there(site, node->number))
        pleat_batch_lose(site, one, node, why);
}

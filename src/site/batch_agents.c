#include "site/batch_agents.h"

#include <stdio.h>
#include <string.h>

#include "site/batch_books.h"
#include "site/batch_end.h"
#include "wire/message.h"
#include "wire/reply.h"

/* The time within which an agent that was cut off calls again: it notices that after 30 s, and
 * pauses up to 5 s.
 */
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
    one->nodes.items[place].called = one->nodes.items[place].watched = false;
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
    node->called = node->watched = true;
    for (size_t i = 0; call.argv[i]; i++)
        json_array_append_new(argv, pleat_json_text(call.argv[i]));
    json_array_append_new(argv, json_string("--processors"));
    json_array_append_new(argv, json_sprintf("%d", (int)pleat_batch_node_size(node)));
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
    pleat_batch_announce(site, one, one->wish.id);
}

/* ---- agents that do not come back ---- */

/* How long an agent may be away. It lives on when the adapter that started it has ended, but then
 * its end is not told: it is known by its calls alone. */
static int64_t back_us(const struct pleat_batch_site *site)
{
    return site->options->agent_us > BACK_US ? site->options->agent_us : BACK_US;
}

void pleat_batch_count_away(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    bool some = false;
    for (size_t i = 0; i < one->nodes.count; i++) {
        struct pleat_batch_node *node = &one->nodes.items[i];
        bool away = !node->dead && !pleat_batch_agent_is_there(site, node->number);
        node->away_us = away ? pleat_batch_now_us(site) : 0;
        some = some || (away && !node->watched);
    }
    if (some)
        pleat_batch_look_later(site, one, back_us(site));
}

void pleat_batch_look_for_away(struct pleat_batch_site *site, struct pleat_batch_allocation *one)
{
    char why[PLEAT_BATCH_HOST_ROOM + 80];
    if (!site->synced || site->silent) {
        pleat_batch_count_away(site, one);
        return;
    }
    for (size_t i = 0; i < one->nodes.count && one->state == PLEAT_BATCH_HELD; i++) {
        struct pleat_batch_node *node = &one->nodes.items[i];
        int64_t away_us = pleat_batch_now_us(site) - node->away_us;
        if (node->dead || node->watched || !node->away_us)
            continue;
        if (away_us < back_us(site)) {
            pleat_batch_look_later(site, one, back_us(site) - away_us);
            continue;
        }
        snprintf(why, sizeof(why), "the agent on %s has not called for %.0f s", node->host,
                 (double)away_us / 1e6);
        pleat_batch_lose(site, one, node, why);
    }
}

void pleat_batch_adapter_is_gone(struct pleat_batch_site *site)
{
    for (size_t i = 0; i < site->allocations.count; i++) {
        struct pleat_batch_allocation *one = site->allocations.items[i];
        for (size_t n = 0; n < one->nodes.count; n++)
            one->nodes.items[n].watched = false;
        if (one->state == PLEAT_BATCH_HELD)
            pleat_batch_count_away(site, one);
    }
}

void pleat_batch_agent_is(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                          struct pleat_batch_node *node, bool there)
{
    node->away_us = there ? 0 : pleat_batch_now_us(site);
    if (there && one->state == PLEAT_BATCH_STARTING && pleat_batch_agents_are_there(site, one))
        pleat_batch_hold(site, one);
    else if (!there && one->state == PLEAT_BATCH_HELD && node->step_over && !node->dead &&
             !node->leaves)
        pleat_batch_lose(site, one, node, "its agent has ended");
    else if (!there && one->state == PLEAT_BATCH_HELD && !node->watched)
        pleat_batch_look_later(site, one, back_us(site));
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

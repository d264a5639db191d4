#include "daemon/hosting.h"

#include <stdio.h>

#include "base/clock.h"
#include "command/command.h"
#include "daemon/agent_call.h"
#include "daemon/agent_link.h"
#include "daemon/agent_lock.h"
#include "daemon/agents.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/notes.h"

static int64_t host_now(void *arg)
{
    return daemon_now_us(arg);
}

static void host_emit(void *arg, const struct pleat_event *event)
{
    turn_event(arg, event);
    if (event->kind == PLEAT_EV_NODE_GONE)
        agents_node_gone(arg, event->component, event->u.node.node);
}

static bool host_node_is_taken(void *arg, uint32_t site, uint32_t node)
{
    return agents_node_is_taken(arg, site, node);
}

/* It may notice later than pleatd that it hears nothing, and its jobs have a while to end. */
static int64_t host_agent_ends(void *arg)
{
    enum { NOTICES_S = 30, ENDS_S = 30 };
    const struct daemon *d = arg;
    int64_t orphan_us = d->config.agent_orphan_us;
    return orphan_us > 0 ? orphan_us + (NOTICES_S + ENDS_S) * PLEAT_US_PER_S : PLEAT_NEVER;
}

static bool host_node_mixes(void *arg, uint32_t site, uint32_t node)
{
    return agent_mixes(arg, site, node);
}

static void host_node_quit(void *arg, uint32_t site, uint32_t node)
{
    agents_node_quit(arg, site, node);
}

struct known {
    struct daemon *d;
    uint32_t site;
    bool (*has)(void *arg, uint32_t node);
    void *arg;
};

static void drop_unknown(void *arg, uint32_t node)
{
    const struct known *known = arg;
    const struct pleat_event gone = {
        .kind = PLEAT_EV_NODE_GONE, .component = known->site, .u.node = {.node = node}};
    if (!known->has(known->arg, node))
        host_emit(known->d, &gone);
}

/* A pleatd that was killed may have written the key of a node of which its log says nothing. */
static void host_nodes_known(void *arg, uint32_t site, bool (*has)(void *has_arg, uint32_t node),
                             void *has_arg)
{
    struct daemon *d = arg;
    struct known known = {d, site, has, has_arg};
    const struct pleat_view *view = pleat_core_view(d->core);
    for (uint32_t i = 0; i < view->node_count; i++)
        if (view->nodes[i].site == site && view->nodes[i].lent)
            drop_unknown(&known, view->nodes[i].node);
    agent_keys_each(d, site, drop_unknown, &known);
}

static int host_agent_call(void *arg, uint32_t site, uint32_t node, struct pleat_agent_call *call,
                           struct pleat_error *err)
{
    return agent_call(arg, site, node, call, err);
}

static void host_say(void *arg, uint32_t site, const char *text)
{
    struct daemon *d = arg;
    char whole[900];
    snprintf(whole, sizeof(whole), "site %s: %s", d->config.sites[site].name, text);
    daemon_log("%s", whole);
    note_make(d, daemon_now_us(d), "daemon", -1, note_text(whole));
}

static void host_tell(void *arg, uint32_t index, uint64_t claim, const char *text)
{
    struct daemon *d = arg;
    const struct pleat_claim *of =
        index < pleat_core_claim_count(d->core) ? pleat_core_claim(d->core, index) : NULL;
    if (!of || of->state == PLEAT_CLAIM_FREE || of->id != claim)
        return;
    const struct job *job = job_of_component(d, of->component);
    if (job)
        note_make(d, daemon_now_us(d), "warning", job->id, note_text(text));
}

static void host_later(void *arg, int64_t delay_us, void (*fn)(void *, uint64_t), void *fn_arg,
                       uint64_t token)
{
    struct daemon *d = arg;
    later_call(&d->hosting.later, delay_us, fn, fn_arg, token);
}

static void host_run(void *arg, const struct pleat_command *command, pleat_command_done *done,
                     void *fn_arg, uint64_t token)
{
    struct daemon *d = arg;
    pleat_commands_run(d->hosting.commands, command, done, fn_arg, token);
}

static struct pleat_helper *host_helper_start(void *arg, const struct pleat_command *command,
                                              const struct pleat_helper_callbacks *callbacks,
                                              void *fn_arg)
{
    struct daemon *d = arg;
    return pleat_commands_help(d->hosting.commands, command, callbacks, fn_arg);
}

static int host_helper_say(void *arg, struct pleat_helper *helper, const char *line)
{
    (void)arg;
    return pleat_helper_say(helper, line);
}

static void host_drop(void *arg, void *fn_arg)
{
    struct daemon *d = arg;
    later_drop(&d->hosting.later, fn_arg);
    pleat_commands_drop(d->hosting.commands, fn_arg);
}

int hosting_init(struct daemon *d, struct pleat_error *err)
{
    d->host = (struct pleat_host){.arg = d,
                                  .now_us = host_now,
                                  .emit = host_emit,
                                  .later = host_later,
                                  .run = host_run,
                                  .helper_start = host_helper_start,
                                  .helper_say = host_helper_say,
                                  .agent_call = host_agent_call,
                                  .node_is_taken = host_node_is_taken,
                                  .agent_ends_us = host_agent_ends,
                                  .node_mixes = host_node_mixes,
                                  .node_quit = host_node_quit,
                                  .nodes_known = host_nodes_known,
                                  .say = host_say,
                                  .tell = host_tell,
                                  .drop = host_drop};
    d->hosting.later.loop = &d->loop;
    if (pleat_commands_create(&d->loop, &d->hosting.commands))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return 0;
}

void hosting_end(struct daemon *d)
{
    later_end(&d->hosting.later);
    pleat_commands_end(d->hosting.commands);
}

void hosting_finish(struct daemon *d)
{
    pleat_commands_destroy(d->hosting.commands);
    d->hosting.commands = NULL;
}

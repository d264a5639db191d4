/* Errors of sites (Lammers 2005, 3.5). An error is what goes wrong at a site by no fault of a user:
 * a start that a node could not do, processors that the site took away, a claim that broke or was
 * not answered in time. A claim that the site refuses for now is no error. A start that works sets
 * the count of errors to 0: they were transient. The counts halve once in every
 * PLEAT_PARAM_ERRORS_FADE_US.
 *
 * Lammers counts the errors of clusters in 3.5, and those of "the supposedly faulty node" in 3.2.
 * Both are counted here where a site tells its nodes' processors, each with a limit of its own. An
 * error counts for a node only where one node is known to have caused it: the first node of a
 * start, or the node of lost processors that were all on one. Without a limit for nodes (the
 * default, also in logs of earlier versions) the errors of nodes are not counted.
 *
 * Pauses are configured by PLEAT_PARAM_PAUSE_US. With pauses, a start that the node could not do
 * (no process, no descriptor, no memory) uses up no attempt, since nothing has run. The job waits
 * aside for a pause, and its site is asked for nothing for a pause. Each pause in a row is twice as
 * long as the one before it, up to PLEAT_PARAM_PAUSE_MAX_US. After its pause the job, or the site,
 * goes on by itself. */
#include "core/errors.h"
#include "core/deadlines.h"
#include "core/effects.h"
#include "core/hold.h"
#include "core/job.h"
#include "core/node.h"
#include "core/state.h"
#include "core/tally.h"

static void bar(struct pleat_core *core, uint32_t index)
{
    struct pleat_site *site = site_at(core, index);
    int64_t again_us = core->parameters[PLEAT_PARAM_SITE_AGAIN_US];
    site->barred = 1;
    if (again_us > 0)
        arm(core, &site->again, DEADLINE_SITE, index, now_of(core) + again_us);
    core->wants_pass = true; /* waiting jobs may find room at another site */
}

/* ---- nodes ---- */

static void tell_node(struct pleat_core *core, const struct pleat_node *node)
{
    struct pleat_effect *effect = emit(core, PLEAT_DO_NODE, PLEAT_NONE, 0);
    if (!effect)
        return;
    effect->u.node.site = node->site;
    effect->u.node.node = node->node;
    effect->u.node.shut = pleat_view_node_is_closed(node);
}

/* Bars a node, or considers it again. */
static void set_barred(struct pleat_core *core, struct pleat_node *node, bool barred)
{
    int64_t again_us = core->parameters[PLEAT_PARAM_SITE_AGAIN_US];
    struct pleat_node to = *node;
    to.barred = barred;
    to.again_us = barred && again_us > 0 ? now_of(core) + again_us : 0;
    if (!barred)
        to.errors = 0;
    core_node_set(core, node, to);
    tell_node(core, node);
    core->wants_pass = true;
    bool first = core->nodes_again == PLEAT_HEAP_NONE ||
                 pleat_heap_time(&core->deadlines, core->nodes_again) > to.again_us;
    if (to.again_us > 0 && first)
        arm(core, &core->nodes_again, DEADLINE_NODES, 0, to.again_us);
}

void nodes_forgive(struct pleat_core *core)
{
    int64_t next_us = 0;
    for (size_t n = 0; n < core->nodes.count; n++) {
        struct pleat_node *node = &core->nodes.items[n];
        if (node->barred && node->again_us > 0 && node->again_us <= now_of(core))
            set_barred(core, node, false);
        else if (node->again_us > 0 && (next_us == 0 || node->again_us < next_us))
            next_us = node->again_us;
    }
    if (next_us > 0)
        arm(core, &core->nodes_again, DEADLINE_NODES, 0, next_us);
}

void node_is_new(struct pleat_core *core, struct pleat_node *node)
{
    bool was = node->barred;
    node->barred = 0;
    node->errors = 0;
    node->again_us = 0;
    if (was)
        tell_node(core, node);
}

/* How often the count of a node has to be halved by now. */
static int64_t node_halvings(const struct pleat_core *core, const struct pleat_node *node)
{
    int64_t fade_us = core->parameters[PLEAT_PARAM_ERRORS_FADE_US];
    return fade_us > 0 && now_of(core) > node->faded_us ? (now_of(core) - node->faded_us) / fade_us
                                                        : 0;
}

/* The record of a node whose processors are known; NULL: there is none. */
static struct pleat_node *node_of(struct pleat_core *core, uint32_t site, uint32_t number)
{
    const struct pleat_node *node =
        core->sites.items[site].several ? pleat_view_node(&core->view, site, number) : NULL;
    return node && node->slots > 0 ? &core->nodes.items[node - core->view.nodes] : NULL;
}

static void judge_node(struct pleat_core *core, struct pleat_node *node)
{
    int64_t limit = core->parameters[PLEAT_PARAM_NODE_ERRORS];
    bool too_many = limit > 0 && node->errors > limit;
    if (too_many != (bool)node->barred)
        set_barred(core, node, too_many);
}

/* ---- sites ---- */

/* How often the counts of a site have to be halved by `now_us`. */
static int64_t halvings(const struct pleat_core *core, const struct pleat_site *site,
                        int64_t now_us)
{
    int64_t fade_us = core->parameters[PLEAT_PARAM_ERRORS_FADE_US];
    return fade_us > 0 && now_us > site->faded_us ? (now_us - site->faded_us) / fade_us : 0;
}

static uint32_t halved(uint32_t number, int64_t times)
{
    return times < 32 ? number >> times : 0;
}

static void fade(struct pleat_core *core, struct pleat_site *site)
{
    int64_t times = halvings(core, site, now_of(core));
    site->errors = halved(site->errors, times);
    site->failed_starts = halved(site->failed_starts, times);
    site->faded_us += times * core->parameters[PLEAT_PARAM_ERRORS_FADE_US];
    if (!site->errors && !site->failed_starts)
        site->faded_us = now_of(core); /* fading begins with the first error */
}

uint32_t pleat_core_failed_starts(const struct pleat_core *core, uint32_t site, int64_t now_us)
{
    const struct pleat_site *of = &core->sites.items[site];
    return halved(of->failed_starts, halvings(core, of, now_us));
}

void site_error(struct pleat_core *core, uint32_t index)
{
    struct pleat_site *site = site_at(core, index);
    fade(core, site);
    int64_t limit = core->parameters[PLEAT_PARAM_SITE_ERRORS];
    if (site->errors < UINT32_MAX)
        site->errors++;
    if (limit > 0 && site->errors > limit && !site->barred)
        bar(core, index);
}

void node_error(struct pleat_core *core, uint32_t site, uint32_t number)
{
    site_error(core, site);
    struct pleat_node *node = node_of(core, site, number);
    if (!node || core->parameters[PLEAT_PARAM_NODE_ERRORS] == 0)
        return;
    int64_t times = node_halvings(core, node);
    node->errors = halved(node->errors, times);
    node->faded_us += times * core->parameters[PLEAT_PARAM_ERRORS_FADE_US];
    if (!node->errors)
        node->faded_us = now_of(core); /* fading begins with the first error */
    if (node->errors < UINT32_MAX)
        node->errors++;
    if (!node->barred)
        judge_node(core, node);
}

/* The length of the next pause in microseconds, after `before` pauses in a row. */
static int64_t next_pause(const struct pleat_core *core, uint32_t before)
{
    int64_t us = core->parameters[PLEAT_PARAM_PAUSE_US];
    int64_t most_us = core->parameters[PLEAT_PARAM_PAUSE_MAX_US];
    while (before-- > 0 && us < most_us)
        us *= 2;
    return us < most_us ? us : most_us;
}

bool start_is_paused(const struct pleat_core *core, const struct pleat_component *component)
{
    int64_t most = core->parameters[PLEAT_PARAM_START_TRIES];
    return component->reason == PLEAT_REASON_START_SYSTEM && component->untold &&
           component->failed_starts > 0 && next_pause(core, 0) > 0 &&
           (most == 0 || component->failed_starts < most);
}

void start_has_failed(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    struct pleat_site *site = site_at(core, comp->site);
    node_error(core, comp->site, comp->lead_node);
    site->failed_us = now_of(core);
    if (site->failed_starts < UINT32_MAX)
        site->failed_starts++;
    if (next_pause(core, 0) == 0)
        return;
    if (!is_several(core, comp) && comp->failed_starts < UINT16_MAX)
        comp->failed_starts++;
    if (site->quiet_until_us > now_of(core))
        return; /* the start was begun before the site's present pause */
    site->quiet_until_us = now_of(core) + next_pause(core, site->pauses);
    if (site->pauses < UINT8_MAX)
        site->pauses++;
}

/* A start on the node has worked. A node that is barred stays barred: the start was begun before
 * that. */
static void node_works(struct pleat_core *core, uint32_t site, uint32_t number)
{
    struct pleat_node *node = node_of(core, site, number);
    if (node && !node->barred)
        node->errors = 0;
}

void start_works(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    struct pleat_site *site = site_at(core, comp->site);
    comp->failed_starts = 0;
    site->errors = 0;
    if (site->several)
        node_works(core, comp->site, comp->lead_node);
    if (site->quiet_until_us <= now_of(core))
        site->pauses = 0; /* a start that was begun before the pause does not end it */
}

void component_pause(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    comp->quiet_until_us = now_of(core) + next_pause(core, comp->failed_starts - 1u);
    comp->holds |= PLEAT_HELD_BY_FAULT;
    hold_or_append(core, component);
    arm(core, &comp->deadline, DEADLINE_COMPONENT, component, comp->quiet_until_us);
}

void on_pause_over(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    comp->quiet_until_us = 0;
    if (comp->holds != PLEAT_HELD_BY_FAULT || comp->group != PLEAT_NONE) {
        hold_remove(core, component, PLEAT_HELD_BY_FAULT);
        return;
    }
    /* the component keeps its old place in the queue: the pause was not its fault */
    comp->holds = 0;
    comp->aside = PLEAT_ASIDE_NOT;
    queue_replace(core, component);
}

void site_pardon(struct pleat_core *core, uint32_t index)
{
    struct pleat_site *site = site_at(core, index);
    site->errors = 0;
    site->pauses = 0;
    if (site->barred)
        core->wants_pass = true;
    site->barred = 0;
    disarm(core, &site->again);
}

void sites_judge(struct pleat_core *core)
{
    int64_t limit = core->parameters[PLEAT_PARAM_SITE_ERRORS];
    for (uint32_t s = 0; s < core->sites.count; s++) {
        bool too_many = limit > 0 && site_at(core, s)->errors > limit;
        if (site_at(core, s)->barred && !too_many)
            site_pardon(core, s);
        else if (!site_at(core, s)->barred && too_many)
            bar(core, s);
    }
    for (size_t n = 0; n < core->nodes.count; n++)
        judge_node(core, &core->nodes.items[n]);
}

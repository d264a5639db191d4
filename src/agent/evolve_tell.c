/* evolve_tell.c - what the agent says to the processes of an evolving run, and to the daemon about
 * them. */
#include "agent/evolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/log.h"
#include "agent/notify.h"
#include "agent/owner.h"
#include "base/clock.h"

/* A process that leaves so much unread is cut off: it connects again, and gets all of it anew. */
#define UNREAD_MAX 4194304
/* Bytes of a welcome that its list of processes may fill; the rest follows in lines of their own.
 */
#define LIST_MAX 32768
/* Where more processes than FEW would be woken for each piece of news, it waits for others for so
 * long. */
#define FEW 64
#define NEWS_US 10000
/* So long are processes sent news in one turn, so that those that ask are answered meanwhile. */
#define TURN_US 2000

/* ---- to processes ---- */

bool pleat_proc_is_connected(const struct pleat_proc *proc)
{
    return proc->connection || proc->far.serial;
}

static void cut_off(struct pleat_proc *proc)
{
    if (proc->far.serial)
        pleat_far_cut_off(proc);
    pleat_connection_close(proc->connection);
    proc->connection = NULL;
}

static const char *news_for(const struct pleat_news *news, const struct pleat_proc *proc)
{
    bool near = news->is_far == proc->is_far &&
                (!proc->is_far || (news->node == proc->far.node && news->site == proc->far.site));
    return news->texts[near];
}

/* The same, to a process on another node. */
static void say_far(struct pleat_proc *proc, const char *text)
{
    const struct pleat_news_list *news = &proc->evolve->news;
    for (; proc->news_at < news->count; proc->news_at++)
        pleat_far_say(proc, news_for(&news->items[proc->news_at], proc));
    if (text)
        pleat_far_say(proc, text);
}

/* Sends to a process what it has not been sent of the news, and then a line (NULL: none). */
static void say_text(struct pleat_proc *proc, const char *text)
{
    const struct pleat_news_list *news = &proc->evolve->news;
    struct pleat_string out = {0};
    if (!proc->connection) {
        say_far(proc, text);
        return;
    }
    for (; proc->news_at < news->count; proc->news_at++)
        pleat_string_addf(&out, "%s\n", news_for(&news->items[proc->news_at], proc));
    if (text)
        pleat_string_addf(&out, "%s\n", text);
    if (pleat_connection_backlog(proc->connection) > UNREAD_MAX) {
        pleat_log("run %llu (job %s): process %u does not read what it is told: it is cut off",
                  (unsigned long long)proc->evolve->run->id, proc->evolve->run->job, proc->id);
        pleat_string_finish(&out);
        cut_off(proc);
    } else if (pleat_connection_send(proc->connection, &out)) {
        cut_off(proc);
    }
}

void pleat_proc_say(struct pleat_proc *proc, json_t *line)
{
    char *text = line && pleat_proc_is_connected(proc) ? json_dumps(line, JSON_COMPACT) : NULL;
    if (text)
        say_text(proc, text);
    else if (pleat_proc_is_connected(proc)) /* it asks again on its next connection */
        cut_off(proc);
    free(text);
    json_decref(line);
}

static json_t *parent_of(const struct pleat_proc *proc)
{
    return proc->parent == PLEAT_EVOLVE_NOBODY ? json_null()
                                               : json_integer((json_int_t)proc->parent);
}

/* What others may know of a process. near: they are on its node. */
static json_t *about(const struct pleat_proc *proc, bool near)
{
    return json_pack("{s:s, s:I, s:s, s:s*, s:o, s:O*}", "do", "process", "process",
                     (json_int_t)proc->id, "state", proc->told_running ? "running" : "coming",
                     "address", near && proc->local ? proc->local : proc->address, "parent",
                     parent_of(proc), "groups", proc->groups);
}

void pleat_evolve_spread(struct pleat_proc *proc, const char *reason, int code, int signal)
{
    struct pleat_evolve *evolve = proc->evolve;
    struct pleat_news news = {
        .is_far = proc->is_far, .site = proc->far.site, .node = proc->far.node};
    for (int near = 0; near < 2; near++) {
        json_t *line = reason ? json_pack("{s:s, s:I, s:s, s:s, s:i, s:i}", "do", "process",
                                          "process", (json_int_t)proc->id, "state", "gone",
                                          "reason", reason, "code", code, "signal", signal)
                              : about(proc, near);
        news.texts[near] = line ? json_dumps(line, JSON_COMPACT) : NULL;
        json_decref(line);
    }
    if (news.texts[0] && news.texts[1] && !pleat_array_push(&evolve->news, news))
        return;
    free(news.texts[0]);
    free(news.texts[1]);
    /* no memory: they connect again, and are told all of it anew */
    for (size_t i = 0; i < evolve->procs.count; i++)
        if (pleat_proc_is_connected(evolve->procs.items[i]))
            cut_off(evolve->procs.items[i]);
    pleat_evolve_drop_news(evolve, evolve->news.count);
}

int64_t pleat_evolve_send_news(struct pleat_evolve *evolve, int64_t now)
{
    const bool can_wait = now != INT64_MAX, many = evolve->procs.count > FEW;
    if (evolve->news.count == 0)
        return 0;
    if (can_wait && !evolve->news_round && many && now < evolve->news_us + NEWS_US)
        return evolve->news_us + NEWS_US;
    if (!can_wait || !evolve->news_round)
        evolve->news_round = evolve->news.count;
    const int64_t until = pleat_clock_monotonic_us() + TURN_US;
    for (size_t i = 0; i < evolve->procs.count; i++) {
        struct pleat_proc *to = evolve->procs.items[i];
        if (!pleat_proc_is_connected(to) || to->news_at >= evolve->news_round)
            continue;
        if (can_wait && pleat_clock_monotonic_us() >= until)
            return now + 1; /* the others in the next turn */
        say_text(to, NULL);
    }
    pleat_evolve_drop_news(evolve, evolve->news_round);
    evolve->news_us = pleat_clock_monotonic_us();
    return evolve->news.count == 0 ? 0 : many ? evolve->news_us + NEWS_US : now + 1;
}

/* What a process that has registered is told of another one; NULL: nothing. *bad: no memory. To be
 * freed. */
static char *known_of(const struct pleat_proc *proc, const struct pleat_proc *other, bool *bad)
{
    if (!other->handed || other->ended)
        return NULL;
    json_t *item = about(other, pleat_proc_is_beside(other, proc));
    char *text = item ? json_dumps(item, JSON_COMPACT) : NULL;
    *bad = *bad || !text;
    json_decref(item);
    return text;
}

/* The rest of what it is told, in one piece: the processes from `next` on, which do not fit into
 * its welcome. */
static void say_rest(struct pleat_proc *proc, size_t next)
{
    const struct pleat_evolve *evolve = proc->evolve;
    struct pleat_string lines = {0};
    bool bad = false;
    for (; !bad && pleat_proc_is_connected(proc) && next < evolve->procs.count; next++) {
        char *text = known_of(proc, evolve->procs.items[next], &bad);
        if (text && !proc->connection)
            pleat_far_say(proc, text);
        else if (text)
            pleat_string_addf(&lines, "%s%s", lines.length ? "\n" : "", text);
        free(text);
    }
    if (bad || lines.failed)
        cut_off(proc); /* it connects again */
    else if (lines.length)
        say_text(proc, lines.text);
    pleat_string_finish(&lines);
}

void pleat_proc_welcome(struct pleat_proc *proc)
{
    const struct pleat_evolve *evolve = proc->evolve;
    struct pleat_string line = {0};
    size_t next = 0;
    bool bad = false, first = true;
    bool begins = proc->handed && !proc->renews && !pleat_proc_is_late(proc);
    pleat_string_addf(&line, "{\"do\":\"welcome\",\"process\":%u,\"state\":\"%s\",\"maximum\":%u,",
                      proc->id, begins ? "running" : "prepared", evolve->maximum);
    if (proc->parent == PLEAT_EVOLVE_NOBODY)
        pleat_string_addf(&line, "\"parent\":null,\"processes\":[");
    else
        pleat_string_addf(&line, "\"parent\":%u,\"processes\":[", proc->parent);
    for (; !bad && next < evolve->procs.count && line.length < LIST_MAX; next++) {
        char *text = known_of(proc, evolve->procs.items[next], &bad);
        if (text)
            pleat_string_addf(&line, "%s%s", first ? "" : ",", text);
        first = first && !text;
        free(text);
    }
    pleat_string_addf(&line, "]}");
    if (bad || line.failed)
        cut_off(proc); /* it connects again */
    else
        say_text(proc, line.text);
    pleat_string_finish(&line);
    say_rest(proc, next);
}

void pleat_proc_go(struct pleat_proc *proc)
{
    pleat_proc_say(proc, json_pack("{s:s, s:o}", "do", "go", "parent", parent_of(proc)));
}

/* ---- to the daemon ---- */

static void tell_claim(const struct pleat_evolve *evolve, const char *method, uint64_t claim,
                       uint64_t order, const char *reason)
{
    pleat_agent_notify(evolve->run->agent, method,
                       json_pack("{s:I, s:I, s:I, s:s*}", "run", (json_int_t)evolve->run->id,
                                 "claim", (json_int_t)claim, "number", (json_int_t)order, "reason",
                                 reason));
}

void pleat_proc_tell(struct pleat_proc *proc)
{
    if (proc->prepared)
        tell_claim(proc->evolve, "prepared", proc->claim, proc->order, NULL);
    if (!proc->taken)
        return;
    /* first that its request does not wait any more: with that request, and without a processor on
     * its way, the daemon would claim another one */
    pleat_evolve_tell_demand(proc->evolve);
    tell_claim(proc->evolve, "taken", proc->claim, proc->order, NULL);
}

void pleat_evolve_tell_gone(struct pleat_evolve *evolve, uint64_t claim, uint64_t order,
                            const char *reason)
{
    size_t at = 0;
    while (at < evolve->gone.count && evolve->gone.items[at].claim != claim)
        at++;
    const struct pleat_gone_claim gone = {claim, order, reason};
    if (at < evolve->gone.count)
        evolve->gone.items[at] = gone;
    else if (pleat_array_push(&evolve->gone, gone))
        pleat_log("no memory to keep that claim %llu has no process",
                  (unsigned long long)claim); /* the daemon asks again */
    tell_claim(evolve, "process_gone", claim, order, reason);
}

void pleat_evolve_tell_start_left(struct pleat_evolve *evolve)
{
    pleat_agent_notify(evolve->run->agent, "start_left",
                       json_pack("{s:I, s:I}", "run", (json_int_t)evolve->run->id, "left",
                                 (json_int_t)evolve->start_left));
}

static void count_one(json_t *counts, const char *name)
{
    json_int_t known = json_integer_value(json_object_get(counts, name));
    (void)json_object_set_new(counts, name, json_integer(known + 1));
}

/* Of the requests that are not served: how many need a node of which architecture, at the run's
 * site. */
static json_t *demand_on(const struct pleat_evolve *evolve, size_t *count)
{
    json_t *on = json_object();
    *count = 0;
    for (size_t i = 0; i < evolve->procs.count; i++) {
        const struct pleat_proc *proc = evolve->procs.items[i];
        if (!proc->architecture || proc->site || !pleat_proc_is_unserved(proc))
            continue;
        (*count)++;
        count_one(on, proc->architecture);
    }
    return on;
}

/* How many need another site, by that: all, and those that need an architecture there. NULL: the
 * run is at one site. */
static json_t *demand_at(const struct pleat_evolve *evolve, size_t *count)
{
    json_t *at = json_array_size(evolve->may) ? json_object() : NULL;
    *count = 0;
    for (size_t i = 0; at && i < evolve->procs.count; i++) {
        const struct pleat_proc *proc = evolve->procs.items[i];
        if (!proc->site || !pleat_proc_is_unserved(proc))
            continue;
        json_t *there = json_object_get(at, proc->site);
        if (!there) {
            there = json_pack("{s:i, s:{}}", "waiting", 0, "on");
            (void)json_object_set_new(at, proc->site, there);
        }
        (*count)++;
        count_one(there, "waiting");
        if (proc->architecture)
            count_one(json_object_get(there, "on"), proc->architecture);
    }
    return at;
}

/* How many can be served at any site. */
static size_t demand_any(const struct pleat_evolve *evolve)
{
    size_t count = 0;
    for (size_t i = 0; i < evolve->procs.count; i++)
        count += evolve->procs.items[i]->any_site && pleat_proc_is_unserved(evolve->procs.items[i]);
    return count;
}

static json_t *demand_of(const struct pleat_evolve *evolve, json_t *on, json_t *at)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o*, s:o*}", "run",
                     (json_int_t)evolve->run->id, "iteration", (json_int_t)evolve->iteration,
                     "iteration_us", (json_int_t)evolve->iteration_us, "requests",
                     (json_int_t)evolve->requests, "satisfied", (json_int_t)evolve->satisfied,
                     "waiting", (json_int_t)pleat_evolve_unserved(evolve), "any",
                     (json_int_t)demand_any(evolve), "on", on, "at", at, "returning",
                     evolve->returning < 0 ? NULL : json_integer(evolve->returning));
}

void pleat_evolve_tell_demand(struct pleat_evolve *evolve)
{
    int64_t waiting = pleat_evolve_unserved(evolve);
    size_t count = 0, elsewhere = 0, any = demand_any(evolve);
    json_t *on = demand_on(evolve, &count), *at = demand_at(evolve, &elsewhere);
    if (evolve->told_requests == evolve->requests && evolve->told_waiting == waiting &&
        evolve->told_iteration == evolve->iteration && evolve->told_on == count &&
        evolve->told_at == elsewhere && evolve->told_any == any &&
        evolve->told_returning == evolve->returning) {
        json_decref(on);
        json_decref(at);
        return;
    }
    evolve->told_requests = evolve->requests;
    evolve->told_waiting = waiting;
    evolve->told_iteration = evolve->iteration;
    evolve->told_on = count;
    evolve->told_at = elsewhere;
    evolve->told_any = any;
    evolve->told_returning = evolve->returning;
    evolve->told_demand = true;
    pleat_agent_notify(evolve->run->agent, "demanded", demand_of(evolve, on, at));
}

void pleat_evolve_report(const struct pleat_run *run)
{
    struct pleat_evolve *evolve = run->evolve;
    if (!evolve || !pleat_run_is_live(run))
        return;
    for (size_t i = 0; i < evolve->gone.count; i++)
        tell_claim(evolve, "process_gone", evolve->gone.items[i].claim, evolve->gone.items[i].order,
                   evolve->gone.items[i].reason);
    for (size_t i = 0; i < evolve->procs.count; i++)
        if (evolve->procs.items[i]->claim)
            pleat_proc_tell(evolve->procs.items[i]);
    pleat_evolve_tell_start_left(evolve);
    pleat_far_report(evolve);
    size_t on = 0, at = 0;
    if (evolve->told_demand)
        pleat_agent_notify(run->agent, "demanded",
                           demand_of(evolve, demand_on(evolve, &on), demand_at(evolve, &at)));
}

void pleat_evolve_warn(struct pleat_run *run, const char *text)
{
    pleat_agent_notify(
        run->agent, "warning",
        json_pack("{s:I, s:o}", "run", (json_int_t)run->id, "text", pleat_json_text(text)));
}

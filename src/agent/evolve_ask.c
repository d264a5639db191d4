/* evolve_ask.c - what a process of an evolving run asks for: an addition, that one ends, a group.
 */
#include "agent/evolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "agent/params.h"
#include "model/sizes.h"
#include "wire/message.h"

#define GROUP_NAME_MAX 64
#define PRIORITY_MAX 32767

/* ---- answers ---- */

static void say(struct pleat_proc *proc, const struct pleat_evolve_answer *answer)
{
    json_int_t number = (json_int_t)answer->number;
    if (answer->kind == PLEAT_ANSWER_ADDED)
        pleat_proc_say(proc,
                       json_pack("{s:s, s:I, s:I, s:b}", "do", "added", "number", number, "process",
                                 (json_int_t)answer->process, "ready", answer->ready));
    else if (answer->kind == PLEAT_ANSWER_DONE)
        pleat_proc_say(proc, json_pack("{s:s, s:I}", "do", "done", "number", number));
    else
        pleat_proc_say(proc, json_pack("{s:s, s:I, s:o}", "do", "refused", "number", number, "text",
                                       pleat_json_text(answer->text ? answer->text : "no memory")));
}

/* Keeps the answer, and says it. Takes answer->text. */
static void settle(struct pleat_proc *proc, const struct pleat_evolve_answer *answer)
{
    if (!proc->answers)
        proc->answers = calloc(PLEAT_EVOLVE_ANSWERS, sizeof(*proc->answers));
    const bool kept = proc->answers != NULL;
    if (kept) {
        struct pleat_evolve_answer *place =
            &proc->answers[(size_t)answer->number % PLEAT_EVOLVE_ANSWERS];
        free(place->text);
        *place = *answer;
    }
    say(proc, answer);
    if (!kept)
        free(answer->text);
}

static void done(struct pleat_proc *proc, int64_t number)
{
    settle(proc, &(struct pleat_evolve_answer){.number = number, .kind = PLEAT_ANSWER_DONE});
}

static void refuse(struct pleat_proc *proc, int64_t number, const char *text)
{
    settle(proc, &(struct pleat_evolve_answer){
                     .number = number, .kind = PLEAT_ANSWER_REFUSED, .text = strdup(text)});
}

/* A request that was answered before is answered in the same way. */
static void answer_again(struct pleat_proc *proc, int64_t number)
{
    const struct pleat_evolve_answer *answer =
        proc->answers ? &proc->answers[(size_t)number % PLEAT_EVOLVE_ANSWERS] : NULL;
    struct pleat_evolve_answer late = {
        .number = number,
        .kind = PLEAT_ANSWER_REFUSED,
        .text = (char *)(uintptr_t) "this request was answered before, and the answer is not kept "
                                    "any more: numbers of requests have to rise"};
    say(proc, answer && answer->number == number ? answer : &late);
}

/* ---- additions ---- */

struct wish {
    const json_t *argv, *env;
    const char *directory;
    int64_t priority;
    bool is_placed;           /* it must be on a certain node: */
    int64_t node;             /* which; -1: this one */
    const char *site;         /* another one at which it must be (pleat_site_named); NULL: here */
    bool any_site;            /* it may be at any site: site is NULL */
    const char *architecture; /* of its node; NULL: that of its program */
};

/* Whether processes may be on other nodes, too. */
static bool roams(const struct pleat_evolve *evolve)
{
    return *evolve->host != '\0';
}

/* Another node than this one; only processes that are prepared there are known. */
static int read_other_node(const struct pleat_proc *proc, const char *node, struct wish *wish,
                           const struct utsname *name, struct pleat_error *err)
{
    char *end = NULL;
    unsigned long number = strtoul(node, &end, 10);
    if (roams(proc->evolve) && *node >= '0' && *node <= '9' && !*end && number < UINT32_MAX) {
        wish->node = (int64_t)number;
        return 0;
    }
    if (wish->site)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "a process on node '%.60s' of site '%s' is not possible: nodes of "
                               "other sites have numbers",
                               node, wish->site);
    return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                           "a process on node '%.60s' is not possible: this job's processes are "
                           "on node %u (%s)%s",
                           node, proc->evolve->run->agent->options.node, name->nodename,
                           roams(proc->evolve) ? ", and on others, which have numbers" : "");
}

/* It may be at any site, where the next processor will be found. */
static int read_any_site(struct wish *wish, const char *node, const char *arch,
                         struct pleat_error *err)
{
    wish->any_site = true;
    if (node || arch)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "a process at any site ('" PLEAT_PROCESS_ANY_SITE
                               "') cannot be wished on a certain %s: name the site, or none",
                               node ? "node" : "architecture");
    return 0;
}

/* Where it must be. */
static int read_place(const struct pleat_proc *proc, const json_t *line, struct wish *wish,
                      struct pleat_error *err)
{
    const struct pleat_agent_options *here = &proc->evolve->run->agent->options;
    const char *site = NULL, *node = NULL, *arch = NULL;
    char number[16];
    struct utsname name = {0};
    snprintf(number, sizeof(number), "%u", here->node);
    int result = pleat_get_string(line, "site", false, &site, err);
    if (!result)
        result = pleat_get_string(line, "node", false, &node, err);
    if (!result)
        result = pleat_get_string(line, "arch", false, &arch, err);
    if (result)
        return result;
    if (site && !strcmp(site, PLEAT_PROCESS_ANY_SITE))
        return read_any_site(wish, node, arch, err);
    wish->any_site = proc->evolve->any_site && !site && !node && !arch;
    if (pleat_site_check(proc->evolve, site, &wish->site, err))
        return PLEAT_E_UNSUPPORTED;
    wish->is_placed = node;
    wish->node = -1;
    wish->architecture = roams(proc->evolve) ? arch : NULL;
    if (arch && pleat_architecture_check(proc->evolve, wish->site, arch, err))
        return PLEAT_E_UNSUPPORTED;
    (void)uname(&name);
    if (node && (wish->site || (strcmp(node, number) != 0 && strcmp(node, name.nodename) != 0)))
        return read_other_node(proc, node, wish, &name, err);
    return 0;
}

static int read_wish(const struct pleat_proc *proc, const json_t *line, struct wish *wish,
                     struct pleat_error *err)
{
    int result = 0;
    if (json_object_get(line, "argv"))
        result = pleat_param_strings(line, "argv", false, &wish->argv, err);
    if (!result && wish->argv && json_array_size(wish->argv) == 0)
        result = pleat_error_set(err, PLEAT_E_INVALID, "'argv' is empty: it names no program");
    if (!result && json_object_get(line, "env"))
        result = pleat_param_strings(line, "env", true, &wish->env, err);
    if (!result)
        result = pleat_get_string(line, "directory", false, &wish->directory, err);
    if (!result && wish->directory && *wish->directory != '/')
        result = pleat_error_set(err, PLEAT_E_INVALID, "'directory' is no absolute path");
    if (!result)
        result = pleat_get_int(line, "priority", false, -PRIORITY_MAX, PRIORITY_MAX,
                               &wish->priority, err);
    if (!result && !wish->argv && (wish->env || wish->directory))
        result = pleat_error_set(err, PLEAT_E_INVALID,
                                 "'env' and 'directory' are of a program of its own: name it in "
                                 "'argv', since a prepared process has begun in its own already");
    return result ? result : read_place(proc, line, wish, err);
}

static bool is_where_wished(const struct pleat_proc *proc, const struct wish *wish)
{
    return (wish->any_site || (proc->is_far ? proc->far.site : NULL) == wish->site) &&
           pleat_machine_suits(proc->evolve, pleat_proc_machine(proc), wish->architecture,
                               wish->argv) &&
           (!wish->is_placed ||
            (wish->node < 0 ? !proc->is_far : proc->is_far && proc->far.node == wish->node));
}

/* A process that is prepared and not handed over, where it is wished: the readiest first, and of
 * these one at the run's own site. NULL: there is none. */
static struct pleat_proc *find_prepared(const struct pleat_evolve *evolve, const struct wish *wish)
{
    struct pleat_proc *best = NULL;
    int most = 0;
    for (size_t i = 0; i < evolve->procs.count; i++) {
        struct pleat_proc *proc = evolve->procs.items[i];
        int good = 1 + 2 * proc->registered + !(proc->is_far && proc->far.site);
        if (proc->handed || proc->stopping || proc->unwanted || proc->ended || !proc->claim ||
            good <= most || !is_where_wished(proc, wish))
            continue;
        best = proc;
        most = good;
    }
    return best;
}

static int take_wish(struct pleat_proc *proc, const struct wish *wish)
{
    proc->argv = wish->argv ? json_deep_copy(wish->argv) : NULL;
    proc->env = wish->env ? json_deep_copy(wish->env) : NULL;
    proc->directory = wish->directory ? strdup(wish->directory) : NULL;
    proc->architecture = wish->architecture ? strdup(wish->architecture) : NULL;
    proc->priority = (int16_t)wish->priority;
    proc->site = wish->site;
    proc->any_site = wish->any_site;
    return (wish->argv && !proc->argv) || (wish->env && !proc->env) ||
                   (wish->directory && !proc->directory) ||
                   (wish->architecture && !proc->architecture)
               ? PLEAT_E_NOMEM
               : 0;
}

static void add(struct pleat_proc *proc, int64_t number, const json_t *line)
{
    struct pleat_evolve *evolve = proc->evolve;
    struct pleat_error err = {0};
    struct wish wish = {0};
    if (read_wish(proc, line, &wish, &err)) {
        refuse(proc, number, err.text);
        return;
    }
    if (pleat_evolve_unserved(evolve) >= PLEAT_EVOLVE_WAITING_MAX) {
        refuse(proc, number,
               "flood: 1024 requests of this job wait already: cancel some, or wait until "
               "processes have come");
        return;
    }
    struct pleat_proc *added = find_prepared(evolve, &wish);
    if (!added && wish.is_placed && roams(evolve)) { /* the next processor may be anywhere */
        refuse(proc, number,
               "no process is prepared now where this one must be, and where the next one will be "
               "is Pleat's choice: ask again later, or for any node; or keep the job to one node "
               "(--one-node)");
        return;
    }
    bool is_new = !added;
    if (is_new)
        added = pleat_proc_new(evolve, proc->id);
    if (!added || take_wish(added, &wish)) {
        if (added && is_new)
            pleat_proc_remove(added);
        refuse(proc, number, "the agent has no memory for another process");
        return;
    }
    added->parent = proc->id;
    added->ask = number;
    evolve->requests++;
    bool ready = added->registered && !added->argv;
    evolve->satisfied += added->registered;
    settle(proc,
           &(struct pleat_evolve_answer){
               .number = number, .kind = PLEAT_ANSWER_ADDED, .process = added->id, .ready = ready});
    if (added->registered || added->prepared)
        pleat_evolve_tell_demand(evolve); /* before what it leads to */
    pleat_proc_hand_over(added);
    pleat_evolve_tell_demand(evolve); /* one that waits counts from now on: once, not twice */
}

/* ---- the others ---- */

static void drop(struct pleat_proc *waiting)
{
    pleat_evolve_spread(waiting, "stopped", 0, 0);
    pleat_proc_remove(waiting);
}

/* The process that was added by that request, unless it is gone, or is to go. */
static struct pleat_proc *find_asked(const struct pleat_proc *proc, int64_t number)
{
    const struct pleat_evolve *evolve = proc->evolve;
    for (size_t i = 0; i < evolve->procs.count; i++) {
        struct pleat_proc *other = evolve->procs.items[i];
        if (other->handed && other->parent == proc->id && other->ask == number && !other->stopping)
            return other;
    }
    return NULL;
}

/* Its answer is not kept, since the number is that of an addition: asked again, it is answered by
 * what is so then. `there`: the process has given up waiting for the answer to its request, so it
 * does not know what was added, which may be there by now. */
static void cancel(struct pleat_proc *proc, int64_t number, const json_t *line)
{
    struct pleat_proc *other = find_asked(proc, number);
    char text[120];
    if (other && other->told_running && !json_is_true(json_object_get(line, "there"))) {
        snprintf(text, sizeof(text),
                 "process %u is there already: its request is over, and it can be stopped",
                 other->id);
        pleat_proc_say(proc, json_pack("{s:s, s:I, s:s}", "do", "refused", "number",
                                       (json_int_t)number, "text", text));
        return;
    }
    if (other && pleat_proc_waits(other))
        drop(other);
    else if (other) /* it is just starting, and will not come; or is not known to be there */
        pleat_proc_stop(other, false);
    pleat_proc_say(proc, json_pack("{s:s, s:I}", "do", "done", "number", (json_int_t)number));
}

static void stop(struct pleat_proc *proc, int64_t number, const json_t *line)
{
    struct pleat_evolve *evolve = proc->evolve;
    struct pleat_error err = {0};
    int64_t id = 0;
    char text[200];
    if (pleat_get_int(line, "process", true, 0, UINT32_MAX, &id, &err)) {
        refuse(proc, number, err.text);
        return;
    }
    struct pleat_proc *other = pleat_proc_find(evolve, (uint32_t)id);
    if (!other || !other->handed) {
        snprintf(text, sizeof(text),
                 "there is no process %lld: it has ended, or there never was one of that number",
                 (long long)id);
        refuse(proc, number, text);
    } else if (id == 0) {
        refuse(proc, number,
               "process 0 cannot be stopped: the job ends with it, so it has to end by itself");
    } else if (pleat_proc_waits(other)) {
        done(proc, number);
        drop(other);
    } else {
        done(proc, number);
        pleat_proc_stop(other, false);
    }
}

/* The place of a name in a list of names; their count: it is not there. */
static size_t find_name(const json_t *names, const char *name)
{
    size_t i = 0;
    while (i < json_array_size(names) &&
           strcmp(json_string_value(json_array_get(names, i)), name) != 0)
        i++;
    return i;
}

static void group(struct pleat_proc *proc, int64_t number, const json_t *line)
{
    struct pleat_error err = {0};
    const char *name = NULL;
    bool join = false;
    int result = pleat_get_string(line, "name", true, &name, &err);
    if (!result)
        result = pleat_get_bool(line, "join", true, &join, &err);
    if (!result && (!*name || strlen(name) > GROUP_NAME_MAX))
        result = pleat_error_set(&err, PLEAT_E_INVALID, "the name of a group has 1 to %d bytes",
                                 GROUP_NAME_MAX);
    size_t at = result ? 0 : find_name(proc->groups, name), count = json_array_size(proc->groups);
    if (!result && join && at == count && count >= PLEAT_EVOLVE_GROUPS)
        result = pleat_error_set(&err, PLEAT_E_TOOBIG,
                                 "a process is in %d groups at most: leave one first",
                                 PLEAT_EVOLVE_GROUPS);
    if (!result && !proc->groups && !(proc->groups = json_array()))
        result = pleat_error_set(&err, PLEAT_E_NOMEM, "no memory for a group");
    if (!result && join && at == count && json_array_append_new(proc->groups, json_string(name)))
        result = pleat_error_set(&err, PLEAT_E_NOMEM, "no memory for a group");
    if (result) {
        refuse(proc, number, err.text);
        return;
    }
    if (!join && at < count)
        (void)json_array_remove(proc->groups, at);
    done(proc, number);
    if (join == (at == count))
        pleat_evolve_spread(proc, NULL, 0, 0);
}

/* Those that are leaving already are on their way back as well, and are taken off when they are
 * gone. */
static void returning(struct pleat_proc *proc, int64_t number, const json_t *line)
{
    struct pleat_evolve *evolve = proc->evolve;
    struct pleat_error err = {0};
    int64_t count = 0;
    if (pleat_get_int(line, "processes", true, 0, PLEAT_SIZE_MAX, &count, &err)) {
        refuse(proc, number, err.text);
        return;
    }
    for (size_t i = 0; i < evolve->procs.count; i++) {
        const struct pleat_proc *other = evolve->procs.items[i];
        count += count < PLEAT_SIZE_MAX && other->taken && (other->stopping || other->bye);
    }
    evolve->returning = count;
    done(proc, number);
}

void pleat_evolve_ask(struct pleat_proc *proc, const char *what, const json_t *line)
{
    int64_t number = 0;
    if (pleat_get_int(line, "number", true, 1, INT64_MAX, &number, NULL)) {
        pleat_proc_say(proc, json_pack("{s:s, s:i, s:s}", "do", "refused", "number", 0, "text",
                                       "'number' is missing, or not from 1 on"));
        return;
    }
    if (!strcmp(what, "cancel")) { /* the number is that of the request that is not wanted */
        cancel(proc, number, line);
        return;
    }
    if (number <= proc->last_number) {
        answer_again(proc, number);
        return;
    }
    proc->last_number = number;
    if (!proc->handed)
        refuse(proc, number, "this process is prepared, and has not been handed over yet");
    else if (!strcmp(what, "add"))
        add(proc, number, line);
    else if (!strcmp(what, "stop"))
        stop(proc, number, line);
    else if (!strcmp(what, "returning"))
        returning(proc, number, line);
    else
        group(proc, number, line);
}

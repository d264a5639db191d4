/* evolve.c - the processes of an evolving run, as the agent that leads it knows them. */
#include "agent/evolve.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "agent/life.h"
#include "agent/link.h"
#include "agent/networks.h"
#include "agent/owner.h"

#define SECRET_BYTES 32

/* ---- processes ---- */

struct pleat_proc *pleat_proc_find(const struct pleat_evolve *evolve, uint32_t id)
{
    size_t low = 0, high = evolve->procs.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (evolve->procs.items[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < evolve->procs.count && evolve->procs.items[low]->id == id
               ? evolve->procs.items[low]
               : NULL;
}

struct pleat_proc *pleat_proc_on(const struct pleat_evolve *evolve, uint64_t claim)
{
    for (size_t i = 0; claim && i < evolve->procs.count; i++)
        if (evolve->procs.items[i]->claim == claim)
            return evolve->procs.items[i];
    return NULL;
}

struct pleat_proc *pleat_proc_new(struct pleat_evolve *evolve, uint32_t parent)
{
    struct pleat_proc *proc =
        evolve->next_id < PLEAT_EVOLVE_NOBODY ? calloc(1, sizeof(*proc)) : NULL;
    if (!proc)
        return NULL;
    proc->evolve = evolve;
    proc->id = evolve->next_id;
    proc->parent = parent;
    if (pleat_array_push(&evolve->procs, proc)) { /* ids rise, so it is the last */
        free(proc);
        return NULL;
    }
    evolve->next_id++;
    return proc;
}

static void proc_free(struct pleat_proc *proc)
{
    for (size_t i = 0; proc->answers && i < PLEAT_EVOLVE_ANSWERS; i++)
        free(proc->answers[i].text);
    free(proc->answers);
    pleat_connection_close(proc->connection);
    json_decref(proc->slots);
    free(proc->architecture);
    json_decref(proc->argv);
    json_decref(proc->env);
    json_decref(proc->groups);
    json_decref(proc->far.wish);
    for (int i = 0; i < PLEAT_FAR_STREAMS; i++)
        pleat_string_finish(&proc->far.unwritten[i]);
    free(proc->far.text);
    free(proc->far.unreachable);
    pleat_reach_drop(proc);
    free(proc->directory);
    free(proc->address);
    free(proc->local);
    free(proc);
}

void pleat_proc_remove(struct pleat_proc *proc)
{
    struct pleat_procs *procs = &proc->evolve->procs;
    size_t at = 0;
    while (at < procs->count && procs->items[at] != proc)
        at++;
    if (at < procs->count) {
        procs->count--;
        memmove(procs->items + at, procs->items + at + 1,
                (procs->count - at) * sizeof(*procs->items));
    }
    proc_free(proc);
}

bool pleat_proc_waits(const struct pleat_proc *proc)
{
    return proc->handed && !proc->of_start && !proc->claim && !proc->stopping;
}

/* At a place, on a node of that architecture (NULL: not known). NULL: none waits that can be met
 * there. */
static struct pleat_proc *next_waiting(const struct pleat_evolve *evolve,
                                       const struct pleat_proc *place, const char *machine)
{
    const char *site = place->is_far ? place->far.site : NULL;
    struct pleat_proc *best = NULL;
    for (size_t i = 0; i < evolve->procs.count; i++) {
        struct pleat_proc *proc = evolve->procs.items[i];
        bool before = !best || proc->priority > best->priority ||
                      (proc->priority == best->priority && best->any_site && !proc->any_site);
        if (pleat_proc_waits(proc) && (proc->any_site || proc->site == site) && before &&
            pleat_machine_suits(evolve, machine, proc->architecture, proc->argv))
            best = proc;
    }
    return best;
}

int pleat_proc_place(struct pleat_evolve *evolve, uint64_t claim, uint64_t order,
                     const struct pleat_proc *place)
{
    const char *machine = place->is_far ? pleat_machine_of(evolve, place->far.site, place->far.node)
                                        : pleat_machine_here();
    struct pleat_proc *proc = next_waiting(evolve, place, machine);
    if (!proc && !pleat_machine_suits(evolve, machine, NULL, NULL))
        return PLEAT_E_UNSUPPORTED;
    if (!proc)
        proc = pleat_proc_new(evolve, 0);
    if (!proc)
        return PLEAT_E_NOMEM;
    proc->claim = claim;
    proc->order = order;
    proc->slots = place->slots ? json_deep_copy(place->slots) : NULL;
    proc->is_far = place->is_far;
    proc->far.site = place->far.site;
    proc->far.node = place->far.node;
    return 0;
}

bool pleat_proc_is_unserved(const struct pleat_proc *proc)
{
    return proc->handed && !proc->of_start && !proc->taken && !proc->stopping;
}

uint32_t pleat_evolve_unserved(const struct pleat_evolve *evolve)
{
    uint32_t count = 0;
    for (size_t i = 0; i < evolve->procs.count; i++)
        count += pleat_proc_is_unserved(evolve->procs.items[i]);
    return count;
}

bool pleat_proc_is_late(const struct pleat_proc *proc)
{
    return proc->handed && !proc->told_running &&
           (proc->stopping || (proc->unwanted && !proc->taken));
}

bool pleat_proc_has_child(const struct pleat_proc *proc)
{
    return proc->child || proc->far.part;
}

struct pleat_proc *pleat_proc_of_child(const struct pleat_run *child)
{
    const struct pleat_evolve *evolve = child->leader ? child->leader->evolve : NULL;
    for (size_t i = 0; evolve && i < evolve->procs.count; i++)
        if (evolve->procs.items[i]->child == child)
            return evolve->procs.items[i];
    return NULL;
}

json_t *pleat_proc_variables(const struct pleat_proc *proc)
{
    json_t *all = json_array();
    size_t i = 0, j = 0;
    json_t *entry = NULL, *own = NULL;
    json_array_foreach(proc->evolve->env, i, entry)
    {
        const char *text = json_string_value(entry);
        size_t length = strcspn(text, "=") + 1;
        bool replaced = false;
        json_array_foreach(proc->env, j, own) replaced =
            replaced || strncmp(json_string_value(own), text, length) == 0;
        if (!replaced && json_array_append(all, entry))
            goto no_memory;
    }
    if (!all || (proc->env && json_array_extend(all, proc->env)))
        goto no_memory;
    return all;
no_memory:
    json_decref(all);
    return NULL;
}

/* ---- the run ---- */

/* A file with a key that only processes of this user can read: never in an environment, which
 * others may see. */
static int make_secret(struct pleat_evolve *evolve, struct pleat_error *err)
{
    unsigned char bytes[SECRET_BYTES];
    char *text = evolve->key;
    const size_t length = 2 * SECRET_BYTES;
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return pleat_error_sys(err, errno, "no random numbers for the secret of a run");
    for (size_t i = 0; i < SECRET_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    explicit_bzero(bytes, sizeof(bytes));
    int fd = open(evolve->secret, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return pleat_error_sys(err, errno, "cannot make %s", evolve->secret);
    bool bad = write(fd, text, length) != (ssize_t)length || write(fd, "\n", 1) != 1;
    bad = close(fd) || bad;
    return bad ? pleat_error_set(err, PLEAT_E_SYSTEM, "cannot write %s", evolve->secret) : 0;
}

/* One slot of several ranges, as a list of its own. NULL: there are fewer, or no memory. */
static json_t *slot_at(const json_t *slots, uint32_t place)
{
    size_t i = 0;
    json_t *range = NULL;
    json_array_foreach(slots, i, range)
    {
        json_int_t first = json_integer_value(json_object_get(range, "first"));
        json_int_t count = json_integer_value(json_object_get(range, "count"));
        if (place < count)
            return json_pack("[{s:I, s:i}]", "first", first + (json_int_t)place, "count", 1);
        place -= (uint32_t)count;
    }
    return NULL;
}

/* The run's main process is started as any run's is: from what was asked for, where its program
 * gets the name that it has on this node. */
static int name_program(const struct pleat_run_request *request, struct pleat_error *err)
{
    json_t *argv = (json_t *)(uintptr_t)request->argv; /* of a message that is this agent's */
    json_t *own = pleat_program_is_any(argv) ? pleat_command_on(argv, pleat_machine_here()) : NULL;
    bool bad =
        pleat_program_is_any(argv) && (!own || json_array_set(argv, 0, json_array_get(own, 0)));
    json_decref(own);
    return bad ? pleat_error_set(err, PLEAT_E_NOMEM, "no memory for run %" PRIu64, request->id) : 0;
}

/* Each process of the start has a slot of the run; so has its main process. */
static int make_procs(struct pleat_run *run, const struct pleat_run_request *request,
                      struct pleat_error *err)
{
    int result = 0;
    for (uint32_t i = 0; !result && i < request->evolves->count; i++) {
        struct pleat_proc *proc = pleat_proc_new(run->evolve, PLEAT_EVOLVE_NOBODY);
        if (!proc)
            return pleat_error_set(err, PLEAT_E_NOMEM,
                                   "no memory for the processes of run %" PRIu64, run->id);
        proc->handed = proc->of_start = proc->taken = true;
        proc->place = i;
        proc->slots = request->slots ? slot_at(request->slots, i) : NULL;
        if (request->slots && !proc->slots)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "run %" PRIu64 " starts with %" PRIu32
                                   " processes, and has fewer slots",
                                   run->id, request->evolves->count);
        if (i == 0 && proc->slots)
            result = pleat_bind_plan(run, proc->slots, err);
    }
    if (!result && request->slots)
        pleat_bind_renew(run);
    run->evolve->start_left = request->evolves->count;
    return result;
}

/* The names of other sites: a list with ',' between them. */
static int read_sites(struct pleat_evolve *evolve, const char *list, struct pleat_error *err)
{
    const char *own = evolve->run->agent->options.site;
    int bad = !(evolve->may = json_array());
    while (list && *list && !bad) {
        size_t length = strcspn(list, ", ");
        if (length > 0 && (strlen(own) != length || strncmp(list, own, length) != 0))
            bad = json_array_append_new(evolve->may, json_stringn(list, length));
        list += length + (list[length] != '\0');
    }
    return bad ? pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the sites of run %" PRIu64,
                                 evolve->run->id)
               : 0;
}

int pleat_evolve_create(struct pleat_run *run, const struct pleat_run_request *request,
                        struct pleat_error *err)
{
    if (!run->scratch)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "run %" PRIu64 " asks for processes, and has no 'scratch'", run->id);
    struct pleat_evolve *evolve = calloc(1, sizeof(*evolve));
    if (!evolve)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for run %" PRIu64, run->id);
    evolve->returning = evolve->told_returning = -1;
    evolve->run = run;
    evolve->maximum = request->evolves->maximum;
    evolve->out[0] = evolve->out[1] = -1;
    if (request->evolves->nodes)
        pleat_networks_own(pleat_link_is_tcp(run->agent) ? run->agent->link.address.host : NULL,
                           evolve->host, sizeof(evolve->host));
    (void)uv_timer_init(&run->agent->loop, &evolve->timer); /* cannot fail */
    evolve->timer.data = evolve;
    run->evolve = evolve;
    int length = snprintf(evolve->secret, sizeof(evolve->secret), "%s/secret", run->scratch);
    if (length < 0 || (size_t)length >= sizeof(evolve->secret))
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the path %.80s... is too long for a socket",
                               run->scratch);
    snprintf(evolve->socket, sizeof(evolve->socket), "%s/agent", run->scratch);
    evolve->argv = json_deep_copy(request->argv);
    evolve->env = json_deep_copy(request->env);
    int result = evolve->argv && evolve->env
                     ? make_procs(run, request, err)
                     : pleat_error_set(err, PLEAT_E_NOMEM, "no memory for run %" PRIu64, run->id);
    if (!result)
        result = read_sites(evolve, request->evolves->sites, err);
    evolve->any_site = request->evolves->any_site;
    if (!result)
        result = name_program(request, err);
    return result ? result : make_secret(evolve, err);
}

void pleat_evolve_stop(struct pleat_run *run)
{
    struct pleat_evolve *evolve = run->evolve;
    if (!evolve)
        return;
    pleat_listener_close(evolve->listener);
    evolve->listener = NULL;
    while (evolve->strangers) {
        struct pleat_stranger *stranger = evolve->strangers;
        evolve->strangers = stranger->next;
        pleat_connection_close(stranger->connection);
        free(stranger);
    }
    for (size_t i = 0; i < evolve->procs.count; i++) {
        pleat_connection_close(evolve->procs.items[i]->connection);
        evolve->procs.items[i]->connection = NULL;
    }
    (void)uv_timer_stop(&evolve->timer);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void pleat_evolve_drop_news(struct pleat_evolve *evolve, size_t count)
{
    struct pleat_news_list *news = &evolve->news;
    for (size_t i = 0; i < count; i++)
        for (int near = 0; near < 2; near++)
            free(news->items[i].texts[near]);
    news->count -= count;
    if (news->count)
        memmove(news->items, news->items + count, news->count * sizeof(*news->items));
    for (size_t i = 0; i < evolve->procs.count; i++) {
        size_t *at = &evolve->procs.items[i]->news_at;
        *at -= *at < count ? *at : count;
    }
    evolve->news_round = 0;
}

void pleat_evolve_destroy(struct pleat_run *run)
{
    struct pleat_evolve *evolve = run->evolve;
    if (!evolve)
        return;
    pleat_evolve_stop(run);
    pleat_evolve_drop_news(evolve, evolve->news.count);
    /* each child looks for its process among all of them when it is destroyed */
    for (size_t i = 0; i < evolve->procs.count; i++)
        if (evolve->procs.items[i]->child)
            pleat_run_destroy(evolve->procs.items[i]->child);
    for (size_t i = 0; i < evolve->procs.count; i++)
        proc_free(evolve->procs.items[i]);
    pleat_array_finish(&evolve->procs);
    pleat_array_finish(&evolve->gone);
    pleat_array_finish(&evolve->news);
    json_decref(evolve->argv);
    json_decref(evolve->env);
    json_decref(evolve->machines);
    json_decref(evolve->may);
    json_decref(evolve->sites);
    for (int i = 0; i < PLEAT_FAR_STREAMS; i++)
        if (evolve->out[i] >= 0)
            close(evolve->out[i]);
    explicit_bzero(evolve->key, sizeof(evolve->key));
    run->evolve = NULL;
    evolve->run = NULL;
    uv_close((uv_handle_t *)&evolve->timer, on_closed);
}

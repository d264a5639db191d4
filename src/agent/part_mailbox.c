#include "agent/part_mailbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/crash.h"
#include "agent/kind.h"
#include "agent/log.h"
#include "agent/notify.h"
#include "agent/owner.h"
#include "agent/params.h"
#include "base/clock.h"
#include "model/occasion.h"
#include "shm/mailbox.h"
#include "wire/message.h"

/* A held request is withdrawn after this time. pleatd has been away for long then; the other nodes
 * may know already on which iteration all agree. */
#define HELD_US (60 * PLEAT_US_PER_S)

/* Memory for what this node has of the state. All parts of the run here have the same, so what
 * stays on the node is not moved when others take over. */
struct pleat_part_state {
    struct pleat_state_store store;
    unsigned users;
};

struct pleat_part_mailbox {
    struct pleat_mailbox *mailbox;
    int fd;
    int bell[2]; /* a pipe that its ranks write to; both ends are held, so it never breaks */
    struct pleat_part_state *state;
    uint32_t order; /* the last one that was carried out, from 1; 0: none */
    bool yes;       /* what came of it */
    uint64_t k;
    int64_t held_us;       /* since when ranks may sleep (monotonic); 0: they do not */
    bool waits;            /* its ranks wait for a state, until the order "go" */
    uint64_t going;        /* which was to go on from the state of that generation; 0: not yet */
    uint32_t told_waiting; /* how many of them do, as was said last */
    bool told_section;     /* the last that was said is that ranks are in sections, see below */
};

/* ---- what is kept of the state ---- */

struct pleat_part_state *pleat_part_mailbox_share(const struct pleat_run *run)
{
    struct pleat_part_state *state = run->part_mailbox ? run->part_mailbox->state : NULL;
    if (state)
        state->users++;
    return state;
}

void pleat_part_state_drop(struct pleat_part_state *state)
{
    if (!state || --state->users)
        return;
    pleat_state_store_finish(&state->store);
    free(state);
}

void pleat_part_state_swap(struct pleat_part_state *state, struct pleat_state_store *store)
{
    const struct pleat_state_store kept = state->store;
    state->store = *store;
    *store = kept;
}

static int make_state(struct pleat_part_state **state, struct pleat_error *err)
{
    struct pleat_part_state *made = calloc(1, sizeof(*made));
    if (!made)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to keep a state");
    int rc = pleat_state_store_init(&made->store, err);
    if (rc) {
        free(made);
        return rc;
    }
    made->users = 1;
    *state = made;
    return 0;
}

/* ---- the mailbox ---- */

int pleat_part_mailbox_create(struct pleat_run *run, const struct pleat_run_request *request,
                              struct pleat_error *err)
{
    struct pleat_part_mailbox *made = calloc(1, sizeof(*made));
    if (!made)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for a mailbox");
    made->fd = made->bell[0] = made->bell[1] = -1;
    run->part_mailbox = made;
    int rc = pleat_mailbox_create(request->mailbox_ranks, &made->mailbox, &made->fd, err);
    if (!rc) {
        pleat_mailbox_place(made->mailbox, request->place, request->places);
        made->waits = request->waits;
        if (made->waits)
            pleat_mailbox_hold(made->mailbox);
        made->state = request->inherits;
        if (made->state) {
            made->state->users++;
            pleat_agent_crash_point("part", made->waits ? "beside" : "again");
        } else {
            rc = make_state(&made->state, err);
        }
    }
    if (!rc && pipe2(made->bell, O_CLOEXEC | O_NONBLOCK))
        rc = pleat_error_sys(err, errno, "no pipe for the doorbell");
    return rc; /* `destroy` frees it */
}

void pleat_part_mailbox_destroy(struct pleat_run *run)
{
    struct pleat_part_mailbox *old = run->part_mailbox;
    run->part_mailbox = NULL;
    if (!old)
        return;
    pleat_mailbox_close(old->mailbox);
    const int fds[] = {old->fd, old->bell[0], old->bell[1]};
    for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    pleat_part_state_drop(old->state);
    free(old);
}

/* ---- orders ---- */

/* Tells the agent that leads, with the number of ranks here that are in a section in which nothing
 * may change, or wait for a state: it does not see these. */
static void say(const struct pleat_run *run)
{
    struct pleat_part_mailbox *here = run->part_mailbox;
    struct pleat_mailbox_status status;
    pleat_mailbox_status(here->mailbox, &status);
    here->told_section = status.not_now > 0;
    here->told_waiting = status.waiting;
    pleat_agent_notify(run->agent, "part_said",
                       json_pack("{s:I, s:I, s:I, s:b, s:I, s:I, s:I}", "run", (json_int_t)run->id,
                                 "part", (json_int_t)run->part_number, "order",
                                 (json_int_t)here->order, "yes", here->yes, "k",
                                 (json_int_t)here->k, "not_now", (json_int_t)status.not_now,
                                 "waiting", (json_int_t)status.waiting));
}

void pleat_part_mailbox_tell_section(const struct pleat_run *run)
{
    struct pleat_mailbox_status status;
    if (!run->part_mailbox || run->state != PLEAT_RUN_RUNNING)
        return;
    pleat_mailbox_status(run->part_mailbox->mailbox, &status);
    if (status.not_now || run->part_mailbox->told_section || run->part_mailbox->waits)
        say(run);
}

static int read_resize(const json_t *params, struct pleat_mailbox_request *request,
                       struct pleat_error *err)
{
    int64_t target = 0, margin = 0, nodes = 0;
    const char *occasion = NULL;
    int rc = pleat_param_id(params, "resize", &request->resize, err);
    if (!rc)
        rc = pleat_get_int(params, "target", true, 1, PLEAT_PARAM_RANKS_MAX, &target, err);
    if (!rc)
        rc = pleat_get_int(params, "margin", true, 0, PLEAT_PARAM_RANKS_MAX, &margin, err);
    if (!rc)
        rc = pleat_get_int(params, "next_nodes", true, 1, PLEAT_PARAM_RANKS_MAX, &nodes, err);
    if (!rc)
        rc = pleat_get_bool(params, "mandatory", true, &request->mandatory, err);
    if (!rc)
        rc = pleat_get_bool(params, "stays", true, &request->stays, err);
    if (!rc)
        rc = pleat_get_string(params, "occasion", false, &occasion, err);
    request->relaunch = true;
    request->target = (uint32_t)target;
    request->margin = (uint32_t)margin;
    request->next_nodes = (uint32_t)nodes;
    request->occasion = (uint32_t)pleat_occasion_parse(occasion);
    return rc;
}

static int read_checkpoint(const json_t *params, struct pleat_mailbox_request *request,
                           const char **path, struct pleat_error *err)
{
    bool leave = false;
    int rc = pleat_param_id(params, "checkpoint", &request->resize, err);
    if (!rc)
        rc = pleat_get_string(params, "path", true, path, err);
    if (!rc)
        rc = pleat_get_bool(params, "leave", true, &leave, err);
    request->checkpoint = leave ? PLEAT_MAILBOX_CHECKPOINT_AND_LEAVE : PLEAT_MAILBOX_CHECKPOINT;
    return rc;
}

/* Posts the resize, or a checkpoint to `path`. If a rank here is in a section in which nothing may
 * change, ranks of other nodes would have to sleep: then the request is withdrawn, and the agent
 * that leads tries again. */
static bool post(struct pleat_part_mailbox *here, const struct pleat_mailbox_request *request,
                 const char *path)
{
    struct pleat_mailbox_status status;
    pleat_mailbox_status(here->mailbox, &status);
    pleat_mailbox_acknowledge(here->mailbox);
    int code = !status.attached ? PLEAT_E_STATE
               : path
                   ? pleat_mailbox_post_checkpoint(here->mailbox, request->resize, path,
                                                   request->checkpoint != PLEAT_MAILBOX_CHECKPOINT)
                   : pleat_mailbox_post(here->mailbox, request);
    if (code)
        return false;
    if (pleat_mailbox_held(here->mailbox, &here->k))
        return true;
    (void)!pleat_mailbox_withdraw(here->mailbox);
    return false;
}

/* Lets go of a request that may be settled here, but not on all nodes. */
static bool let_go(struct pleat_part_mailbox *here)
{
    (void)!pleat_mailbox_hold_again(here->mailbox);
    return !pleat_mailbox_withdraw(here->mailbox);
}

/* Whether ranks of a part that has the same memory have not left their state there yet. The first
 * rank of the run has, so these are about to, or their part ends. */
static bool is_used(const struct pleat_run *run)
{
    const struct pleat_run_list *runs = &run->agent->runs;
    for (size_t i = 0; i < runs->count; i++) {
        const struct pleat_part_mailbox *other = runs->items[i]->part_mailbox;
        struct pleat_mailbox_status status;
        if (!other || other == run->part_mailbox || other->state != run->part_mailbox->state ||
            other->waits || !pleat_run_is_live(runs->items[i]))
            continue;
        pleat_mailbox_status(other->mailbox, &status);
        if (status.phase != PLEAT_MAILBOX_SAVED)
            return true;
    }
    return false;
}

/* Ranks that have waited go on from the state, as soon as nobody else uses it. */
static void go_on(struct pleat_run *run)
{
    struct pleat_part_mailbox *here = run->part_mailbox;
    if (!here->waits || !here->going || is_used(run))
        return;
    here->waits = false;
    pleat_mailbox_go(here->mailbox, here->going);
    pleat_agent_crash_point("part", "goes");
}

static bool go(struct pleat_run *run, uint64_t generation)
{
    run->part_mailbox->going = generation;
    go_on(run);
    return true;
}

static void carry_out(struct pleat_run *run, const char *what,
                      const struct pleat_mailbox_request *request, const char *path, uint64_t k)
{
    struct pleat_part_mailbox *here = run->part_mailbox;
    bool posts = !strcmp(what, "post"), holds = !strcmp(what, "hold");
    if (posts)
        here->yes = post(here, request, path);
    else if (holds)
        here->yes = !pleat_mailbox_hold_again(here->mailbox);
    else if (!strcmp(what, "settle"))
        here->yes = !pleat_mailbox_settle(here->mailbox, k);
    else if (!strcmp(what, "go"))
        here->yes = go(run, k);
    else
        here->yes = let_go(here);
    here->held_us = here->yes && (posts || holds) ? pleat_clock_monotonic_us() : 0;
}

int pleat_part_mailbox_order(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    struct pleat_part_mailbox *here = run->part_mailbox;
    struct pleat_mailbox_request request = {0};
    const char *what = NULL, *path = NULL;
    int64_t part = 0, order = 0, k = 0;
    int rc = pleat_get_int(params, "part", true, 1, UINT32_MAX, &part, err);
    if (!rc)
        rc = pleat_get_int(params, "order", true, 1, UINT32_MAX, &order, err);
    if (!rc)
        rc = pleat_get_string(params, "do", true, &what, err);
    if (!rc)
        rc = pleat_get_int(params, "k", false, 0, INT64_MAX, &k, err);
    if (!rc && !strcmp(what, "post"))
        rc = json_object_get(params, "path") ? read_checkpoint(params, &request, &path, err)
                                             : read_resize(params, &request, err);
    if (rc || !here || part != run->part_number || order < here->order)
        return rc;
    if (order > here->order) {
        here->order = (uint32_t)order;
        here->k = 0;
        pleat_agent_crash_point("part", what);
        carry_out(run, what, &request, path, (uint64_t)k);
        pleat_agent_crash_point("part did", what);
    }
    say(run);
    return 0;
}

bool pleat_part_mailbox_holds(const struct pleat_run *run)
{
    return run->part_mailbox && (run->part_mailbox->held_us || run->part_mailbox->waits);
}

/* Says how many ranks wait, where that has changed. */
static void look_at_waiting(const struct pleat_run *run)
{
    struct pleat_mailbox_status status;
    pleat_mailbox_status(run->part_mailbox->mailbox, &status);
    if (status.waiting != run->part_mailbox->told_waiting)
        say(run);
}

void pleat_part_mailbox_look(struct pleat_run *run)
{
    struct pleat_part_mailbox *here = run->part_mailbox;
    if (here && here->waits && run->state == PLEAT_RUN_RUNNING)
        look_at_waiting(run);
    if (here)
        go_on(run);
    if (!here || !here->held_us || pleat_clock_monotonic_us() - here->held_us < HELD_US)
        return;
    here->held_us = 0;
    if (!pleat_mailbox_withdraw(here->mailbox))
        pleat_log("run %" PRIu64 " (job %s): nobody has said what comes of a change of its size: "
                  "its ranks here go on",
                  run->id, run->job);
}

static void add_path(const struct pleat_run *run, struct pleat_string *own, const char *name,
                     int fd)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)run->agent->pid, fd);
    pleat_run_add_variable(own, name, path);
}

void pleat_part_mailbox_add_variables(const struct pleat_run *run, struct pleat_string *own)
{
    const struct pleat_part_mailbox *here = run->part_mailbox;
    char paths[PLEAT_STATE_PATHS_SIZE];
    if (!here)
        return;
    add_path(run, own, PLEAT_MAILBOX_HERE_ENV, here->fd);
    add_path(run, own, PLEAT_DOORBELL_HERE_ENV, here->bell[1]);
    pleat_state_store_paths(&here->state->store, paths);
    pleat_run_add_variable(own, PLEAT_STATE_HERE_ENV, paths);
}

int pleat_part_mailbox_describe(const struct pleat_run *run, json_t *text)
{
    struct pleat_mailbox_status status;
    int32_t pids[64];
    uint32_t ranks = 0, count;
    if (!run->part_mailbox)
        return 0;
    pleat_mailbox_status(run->part_mailbox->mailbox, &status);
    for (uint32_t first = 0;
         (count = pleat_mailbox_pids(run->part_mailbox->mailbox, first, 64, pids)) > 0;
         first += count)
        for (uint32_t i = 0; i < count; i++)
            ranks += pids[i] != 0;
    int bad = json_object_set_new(text, "ranks", json_integer((json_int_t)ranks));
    bad |= json_object_set_new(text, "waits", json_boolean(run->part_mailbox->waits));
    return bad | json_object_set_new(text, "iteration",
                                     json_integer((json_int_t)(status.iteration & INT64_MAX)));
}

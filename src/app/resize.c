/* A resize, once all ranks are inside.
 *
 * Grow: spawn, merge, move the data over the merged communicator, free the old one. Shrink: move
 * the data over the old communicator, split it, free it. Both first try everything that can fail
 * for another reason than a dying process (prepare), and agree on the outcome. Until then nothing
 * has changed, and after a refusal the old communicator and the old data are still in use.
 *
 * If the agent holds states, the state is saved before anything else (saving.c): should ranks get
 * stuck or die inside the resize, they are ended and started again from it. A relaunch consists of
 * the saving alone. Where the objects are in the data file, that file is the state from then on
 * until the ranks go on, and no object is moved: each rank maps its new part. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "app/checkpointing.h"
#include "app/nodes.h"
#include "base/clock.h"

#define DISMISSAL_MOST_NS ((int64_t)5000000000)
#define LEAVING_NICER 10 /* a tenth of the time of another process on the same processor */

/* ---- grow and shrink ---- */

static void adopt(struct pleat_session *session, MPI_Comm comm, int size)
{
    MPI_Comm_free(&session->comm);
    session->comm = comm;
    session->size = size;
    session->surplus = 0;
    pleat_session_count_anew(session);
    pleat_session_tell_grid(session);
}

static int grow(struct pleat_session *session, int target, struct pleat_mailbox_cost *cost,
                struct pleat_error *err)
{
    int64_t start = pleat_clock_monotonic_ns();
    MPI_Comm children = MPI_COMM_NULL;
    MPI_Comm merged = MPI_COMM_NULL;
    bool refused = false;
    int code = pleat_mpi_spawn(session->comm, session->rank, target - session->size, &children,
                               &refused, err);
    if (code)
        return refused ? PLEAT_RESIZE_REFUSED : code;
    code = pleat_mpi_merge(&children, false, &merged, err);
    if (code)
        return code;
    int64_t spawned = pleat_clock_monotonic_ns();
    const struct pleat_change change = pleat_change_to(session, merged, session->size, target);
    code = pleat_hello_say(session, &change, err);
    if (code)
        return code;
    int failed = pleat_hello_compare(session, &change, &code, err);
    if (failed)
        return failed;
    code = pleat_move_all(session, &change, code, err);
    cost->bytes = pleat_moved_bytes(session, &change);
    if (code == PLEAT_RESIZE_REFUSED)
        MPI_Comm_free(&merged);
    if (code)
        return code;
    cost->processes_ns = (uint64_t)(spawned - start);
    cost->redistribute_ns = (uint64_t)(pleat_clock_monotonic_ns() - spawned);
    adopt(session, merged, target);
    return 0;
}

/* in_data: whether the session's objects are in the data file. In a program that goes on from a
 * state they are not, before the state is loaded. */
static int shrink(struct pleat_session *session, int target, bool in_data,
                  struct pleat_mailbox_cost *cost, struct pleat_error *err)
{
    int64_t start = pleat_clock_monotonic_ns();
    struct pleat_change change = pleat_change_to(session, session->comm, session->size, target);
    change.in_data = change.in_data && in_data;
    int code = pleat_move_all(session, &change, 0, err);
    cost->bytes = pleat_moved_bytes(session, &change);
    if (code)
        return code;
    int64_t moved = pleat_clock_monotonic_ns();
    MPI_Comm rest = MPI_COMM_NULL;
    bool stay = session->rank < target;
    code = pleat_mpi_check(
        MPI_Comm_split(session->comm, stay ? 0 : MPI_UNDEFINED, session->rank, &rest),
        "splitting off the ranks that leave", err);
    if (code)
        return code;
    adopt(session, rest, stay ? target : 0);
    cost->redistribute_ns = (uint64_t)(moved - start);
    cost->processes_ns = (uint64_t)(pleat_clock_monotonic_ns() - moved);
    return 0;
}

/* ---- entering ---- */

/* The request as rank 0 reads it from the mailbox, and its preparation for a save; sent to all
 * ranks. */
struct order {
    struct pleat_save_order save;
    int target; /* number of ranks; below 1: the mailbox is damaged */
    int relaunch;
    int checkpoint; /* enum pleat_mailbox_checkpoint */
    int beside;     /* the ranks to come wait already */
    int unusable;   /* the program said meanwhile that it cannot use that many ranks */
    struct pleat_offer offer;
};

/* Whether everything in the data file could be loaded at another size. */
static int check_relaunch(const struct pleat_session *session, int size, struct pleat_error *err)
{
    int code = 0;
    for (const struct pleat_object *object = session->objects;
         object && !code && session->in_data && size >= 1; object = object->next)
        if (object->ops->fits)
            code = object->ops->fits(object, size, err);
    return code;
}

/* Whether the program has said that it cannot use `target` ranks. Not so for a relaunch on fewer
 * processors than the job has: new ranks that are too many leave when they begin. A shrink by
 * splitting would go on with `target` ranks; where it is mandatory, a relaunch follows. */
static bool is_unusable(const struct pleat_session *session,
                        const struct pleat_mailbox_request *request)
{
    int target = (int)request->target;
    if (target == session->size || (request->relaunch && target < session->size + session->surplus))
        return false;
    return pleat_session_floor(session, target) != target;
}

static struct pleat_offer offer_of(const struct pleat_session *session,
                                   const struct pleat_mailbox_request *request)
{
    return (struct pleat_offer){.from = session->size,
                                .to = (int)request->target,
                                .mandatory = request->mandatory,
                                .relaunch = request->relaunch,
                                .occasion = (enum pleat_occasion)request->occasion};
}

/* Rank 0: the change for which the program's actions are called; `to` 0: for none. */
static struct pleat_offer change_of(const struct pleat_session *session)
{
    struct pleat_mailbox_request request;
    if (session->rank != 0 || pleat_mailbox_request(&session->self, &request) ||
        request.checkpoint || is_unusable(session, &request) ||
        (!request.relaunch && (int)request.target == session->size))
        return (struct pleat_offer){0};
    return offer_of(session, &request);
}

/* Sends rank 0's order to all ranks. *unsaved: why rank 0 cannot save. */
static int read_order(struct pleat_session *session, struct order *order,
                      struct pleat_error *unsaved, struct pleat_error *err)
{
    struct pleat_mailbox_request request = {0};
    memset(order, 0, sizeof(*order));
    order->save.code = PLEAT_SAVE_NOT;
    if (session->rank == 0 && !pleat_mailbox_request(&session->self, &request)) {
        order->target = (int)request.target;
        order->relaunch = request.relaunch;
        order->beside = request.beside;
        order->checkpoint = (int)request.checkpoint;
        order->unusable = is_unusable(session, &request);
        order->offer = offer_of(session, &request);
    }
    if (session->rank == 0 && order->target && !order->checkpoint) {
        bool copy = !order->relaunch && order->target == session->size;
        if (order->relaunch)
            order->save.code = check_relaunch(session, order->target, unsaved);
        if (!order->relaunch || !order->save.code)
            pleat_save_begin(session, copy, &order->save, unsaved);
        if (!order->save.code && order->relaunch && request.next_nodes > 1)
            order->save.code = pleat_save_check_nodes(session, &order->save, unsaved);
        order->save.leaves = order->relaunch != 0;
    }
    return pleat_session_tell(session, order, sizeof(*order), "entering a resize", err);
}

static void leave_all(struct pleat_session *session)
{
    pleat_registry_release(session);
    for (struct pleat_object *object = session->objects; object; object = object->next)
        object->ops->detach(object);
    /* the data are the state now: waiting processes take it as soon as they know */
    if (pleat_session_leads(session) && session->saved)
        pleat_state_release_data(session->saved);
    adopt(session, MPI_COMM_NULL, 0);
}

/* Ends a relaunch: if the state is saved, all ranks leave. */
static int leave(struct pleat_session *session, int saved, const struct pleat_error *unsaved,
                 struct pleat_error *err)
{
    if (saved == 0) {
        leave_all(session);
        return 0;
    }
    *err = *unsaved;
    if (!err->text[0])
        pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                        "nobody holds the application's state (" PLEAT_STATE_ENV " is not set), so "
                        "it cannot be started again");
    return PLEAT_RESIZE_REFUSED;
}

static int perform(struct pleat_session *session, int target, struct pleat_mailbox_cost *cost,
                   struct pleat_error *err)
{
    if (target != session->size && session->nodes) {
        pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                        "a program on several nodes has to be relaunched at the new size");
        return PLEAT_RESIZE_REFUSED;
    }
    if (target != session->size && !pleat_mpi_spawns()) {
        pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                        "this MPI can neither start nor release processes of a running program: "
                        "it has to be relaunched at the new size");
        return PLEAT_RESIZE_REFUSED;
    }
    if (target > session->size)
        return grow(session, target, cost, err);
    if (target < session->size)
        return shrink(session, target, true, cost, err);
    return 0;
}

/* This rank is released. It ends beside ranks that compute, perhaps on the same processor, and an
 * MPI may spin while its ranks end. So it lowers its priority. */
static void let_go(struct pleat_session *session)
{
    session->state = PLEAT_SESSION_LEAVING;
    session->rank = -1;
    errno = 0;
    int now = getpriority(PRIO_PROCESS, 0);
    if (!errno)
        (void)setpriority(PRIO_PROCESS, 0, now + LEAVING_NICER);
}

int pleat_resize_fit(struct pleat_session *session, int fits, struct pleat_error *err)
{
    struct pleat_mailbox_cost cost = {0};
    struct pleat_error why = {0};
    MPI_Errhandler handler;
    int before = session->size;
    int code = pleat_mpi_quiet_begin(session->comm, &handler, &why);
    if (!code)
        code = shrink(session, fits, !session->resumed, &cost, &why);
    pleat_mpi_quiet_end(session->comm, &handler);
    if (code) {
        session->state = PLEAT_SESSION_BROKEN;
        if (session->mailbox && pleat_session_leads(session))
            pleat_mailbox_cannot_begin(&session->self, why.text);
        if (err)
            *err = why;
        return why.code ? why.code : PLEAT_E_MPI;
    }
    if (session->comm == MPI_COMM_NULL) {
        let_go(session);
        return PLEAT_LEAVE;
    }
    session->surplus = before - fits;
    if (session->mailbox && pleat_session_leads(session))
        pleat_mailbox_fit(&session->self, (uint32_t)fits, (uint32_t)(before - fits));
    return 0;
}

void pleat_resize_leave(struct pleat_session *session)
{
    leave_all(session);
    let_go(session);
}

/* The outcome of a resize. */
struct outcome {
    int code; /* 0, PLEAT_RESIZE_REFUSED or negative */
    int before, target;
    bool relaunch;
    bool beside;  /* the ranks to come wait already */
    bool in_data; /* the data file is the state now */
    enum pleat_mailbox_checkpoint checkpoint;
    struct pleat_mailbox_cost cost;
    struct pleat_error why;     /* if code is not 0: the reason */
    struct pleat_error unsaved; /* why not saved; empty: saved, or no agent holds states */
};

/* Tells the agent the outcome, and turns it into the result of the adaptation point. */
static int conclude(struct pleat_session *session, const struct outcome *outcome)
{
    const bool leads = pleat_session_leads(session);
    if (outcome->code) {
        session->failure = outcome->why;
        if (outcome->code == PLEAT_RESIZE_REFUSED) {
            if (leads)
                pleat_mailbox_failed(&session->self, outcome->why.text);
            return PLEAT_SAME;
        }
        session->state = PLEAT_SESSION_BROKEN;
        if (leads)
            pleat_mailbox_broken(&session->self, outcome->why.text);
        return outcome->code;
    }
    if (leads && outcome->checkpoint)
        pleat_mailbox_written(&session->self, (uint32_t)outcome->before,
                              outcome->checkpoint == PLEAT_MAILBOX_CHECKPOINT_AND_LEAVE,
                              &outcome->cost);
    else if (leads && outcome->relaunch)
        pleat_mailbox_saved(&session->self, (uint32_t)outcome->before, &outcome->cost);
    else if (leads)
        pleat_mailbox_applied(&session->self, (uint32_t)outcome->before, (uint32_t)outcome->target,
                              &outcome->cost, outcome->unsaved.text);
    if (session->comm != MPI_COMM_NULL)
        return outcome->target > outcome->before   ? PLEAT_GREW
               : outcome->target < outcome->before ? PLEAT_SHRANK
                                                   : PLEAT_SAME;
    let_go(session);
    return PLEAT_LEAVE;
}

/* Writes a checkpoint. Where that fails the program goes on. */
static int write_checkpoint(struct pleat_session *session, struct outcome *outcome)
{
    char path[PLEAT_MAILBOX_PATH] = "";
    int64_t start = pleat_clock_monotonic_ns();
    /* a damaged path is refused like any other on which nothing can be written */
    if (session->rank == 0 && pleat_mailbox_path(&session->self, path))
        path[0] = '\0';
    int code = pleat_checkpoint_all(session, path, &outcome->cost.bytes, &outcome->why);
    outcome->cost.save_ns = (uint64_t)(pleat_clock_monotonic_ns() - start);
    if (!code && outcome->checkpoint == PLEAT_MAILBOX_CHECKPOINT_AND_LEAVE)
        leave_all(session);
    return code == PLEAT_SAVE_NOT ? PLEAT_RESIZE_REFUSED : code;
}

/* Saves first, so that there is a state to go back to whatever happens inside the resize. */
static int go_inside(struct pleat_session *session, struct outcome *outcome)
{
    struct order order;
    int64_t start = pleat_clock_monotonic_ns();
    pleat_freeing_end(&session->freeing);
    int code = pleat_sums_note(session, &outcome->why);
    if (!code)
        code = pleat_save_measure(session, &outcome->why);
    if (!code)
        code = read_order(session, &order, &outcome->unsaved, &outcome->why);
    if (code)
        return code;
    outcome->checkpoint = (enum pleat_mailbox_checkpoint)order.checkpoint;
    if (order.checkpoint)
        return write_checkpoint(session, outcome);
    session->offer = order.offer;
    outcome->target = order.target;
    outcome->relaunch = order.relaunch != 0;
    outcome->beside = order.beside != 0;
    int saved = pleat_save_all(session, &order.save, &outcome->unsaved);
    outcome->in_data = order.save.in_data && saved == 0;
    if (saved < 0) {
        outcome->why = outcome->unsaved;
        return saved;
    }
    if (order.target < 1) {
        pleat_error_set(&outcome->why, PLEAT_E_CORRUPT, "the mailbox asks for an impossible size");
        return PLEAT_RESIZE_REFUSED;
    }
    if (order.unusable) {
        if (!pleat_session_halos(session, order.target, &outcome->why))
            pleat_error_set(&outcome->why, PLEAT_E_INVALID,
                            "the program has said that it cannot use %d ranks", order.target);
        return PLEAT_RESIZE_REFUSED;
    }
    if (saved == 0)
        outcome->cost.save_ns = (uint64_t)(pleat_clock_monotonic_ns() - start);
    /* What the ranks have in private pages is not in the data file. */
    if (order.save.in_data && saved != 0 && !outcome->relaunch) {
        outcome->why = outcome->unsaved;
        return PLEAT_RESIZE_REFUSED;
    }
    if (!outcome->relaunch)
        return perform(session, outcome->target, &outcome->cost, &outcome->why);
    outcome->cost.bytes = pleat_session_bytes(session);
    return leave(session, saved, &outcome->unsaved, &outcome->why);
}

/* Changes the size, without the program's actions. */
static int resize(struct pleat_session *session, struct outcome *outcome)
{
    MPI_Errhandler handler;
    int code = pleat_mpi_quiet_begin(session->comm, &handler, &outcome->why);
    if (!code)
        code = go_inside(session, outcome);
    if (code >= 0 && outcome->in_data && session->comm != MPI_COMM_NULL) {
        struct pleat_error why = {0};
        int failed = pleat_save_end(session, &why);
        if (failed) {
            code = failed;
            outcome->why = why;
        }
    }
    pleat_mpi_quiet_end(session->comm, &handler);
    return code;
}

/* Calls the program's actions once the outcome is known. */
static void act(struct pleat_session *session, struct outcome *outcome)
{
    struct pleat_error why = {0};
    int failed = 0;
    if (outcome->code == PLEAT_RESIZE_REFUSED)
        failed = pleat_actions_undo(session, &why);
    else if (!outcome->code && session->comm != MPI_COMM_NULL && !outcome->checkpoint &&
             outcome->target != outcome->before)
        failed = pleat_actions_after(session, &why);
    if (failed) {
        outcome->code = failed;
        outcome->why = why;
    }
}

/* All ranks are inside, and some rank is in a section in which nothing may change. */
static int put_off(struct pleat_session *session)
{
    session->interval.next = pleat_interval_after(session);
    if (pleat_session_leads(session))
        pleat_mailbox_put_off(&session->self);
    return PLEAT_SAME;
}

int pleat_resize_enter(struct pleat_session *session, struct pleat_error *err)
{
    int64_t start = pleat_clock_monotonic_ns();
    struct outcome outcome = {.before = session->size, .target = session->size};
    if (pleat_session_leads(session))
        pleat_mailbox_ring(&session->self);
    const struct pleat_offer offer = change_of(session);
    session->begun_count = 0;
    outcome.code = pleat_points_meet(session, &outcome.why);
    if (outcome.code == PLEAT_MET_NOT_NOW)
        return put_off(session);
    if (outcome.code == PLEAT_MET_APART)
        outcome.code = PLEAT_RESIZE_REFUSED;
    if (!outcome.code)
        outcome.code = pleat_actions_before(session, &offer, &outcome.why);
    if (!outcome.code)
        outcome.code = resize(session, &outcome);
    act(session, &outcome);
    session->interval.next = pleat_interval_after(session);
    outcome.cost.total_ns = (uint64_t)(pleat_clock_monotonic_ns() - start);
    int result = conclude(session, &outcome);
    if (result == PLEAT_LEAVE && outcome.beside)
        (void)pleat_mailbox_await_dismissal(&session->self, DISMISSAL_MOST_NS);
    pleat_freeing_begin(&session->freeing);
    if (result < 0 && err)
        *err = outcome.why;
    return result;
}

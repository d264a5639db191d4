/* actions.c - the program's own actions before and after a change of its size, and its plan of
 * them. */
#include <string.h>

#include "app/session.h"

int pleat_action_register(struct pleat_session *session, const char *name, pleat_action action,
                          void *arg, struct pleat_error *err)
{
    if (session->state != PLEAT_SESSION_OPEN)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "actions are registered before pleat_session_begin");
    if (!name || !*name || strlen(name) >= PLEAT_NAME_SIZE || !action)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "an action has a function, and a name of 1 to %d bytes",
                               PLEAT_NAME_SIZE - 1);
    for (int i = 0; i < session->action_count; i++)
        if (!strcmp(session->actions[i].name, name))
            return pleat_error_set(err, PLEAT_E_EXISTS, "action '%s' is registered already", name);
    if (session->action_count == PLEAT_ACTIONS)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "there are %d actions already", PLEAT_ACTIONS);
    struct pleat_own_action *made = &session->actions[session->action_count++];
    memcpy(made->name, name, strlen(name) + 1);
    made->call = action;
    made->arg = arg;
    return 0;
}

void pleat_session_on_plan(struct pleat_session *session, pleat_plan_callback callback, void *arg)
{
    session->on_plan = callback;
    session->on_plan_arg = arg;
}

const struct pleat_offer *pleat_session_offer(const struct pleat_session *session)
{
    return session->offer.to ? &session->offer : NULL;
}

uint64_t pleat_actions_hash(const struct pleat_session *session, uint64_t hash)
{
    for (int i = 0; i < session->action_count; i++)
        hash = pleat_session_hash(hash, session->actions[i].name,
                                  strlen(session->actions[i].name) + 1);
    return hash;
}

/* What rank 0 tells the others. */
struct plan {
    struct pleat_offer offer;
    int count; /* -1: the program's plan makes no sense */
    int actions[PLEAT_ACTIONS];
};

static bool makes_sense(const struct pleat_session *session, const struct plan *plan)
{
    bool there[PLEAT_ACTIONS] = {false};
    if (plan->count < 0 || plan->count > session->action_count)
        return false;
    for (int i = 0; i < plan->count; i++) {
        int action = plan->actions[i];
        if (action < 0 || action >= session->action_count || there[action])
            return false;
        there[action] = true;
    }
    return true;
}

/* Rank 0: asks the program. */
static void make_plan(struct pleat_session *session, enum pleat_moment moment, struct plan *plan)
{
    plan->count = plan->offer.to ? session->action_count : 0;
    for (int i = 0; i < plan->count; i++)
        plan->actions[i] = i;
    if (session->on_plan && plan->count)
        plan->count = session->on_plan(moment, &plan->offer, plan->actions, plan->count,
                                       session->on_plan_arg);
    if (!makes_sense(session, plan))
        plan->count = -1;
}

static const char *moment_name(enum pleat_moment moment)
{
    return moment == PLEAT_BEFORE ? "before" : moment == PLEAT_AFTER ? "after" : "instead of";
}

/* Agrees on an action's outcome. Errors of the library's own communication are returned; errors of
 * an action are the program's. */
static int agree(struct pleat_session *session, int mine, int *first, struct pleat_error *err)
{
    MPI_Errhandler handler;
    int rank = mine ? session->rank : session->size;
    int failed = pleat_mpi_quiet_begin(session->comm, &handler, err);
    if (!failed)
        failed = pleat_mpi_check(MPI_Allreduce(&rank, first, 1, MPI_INT, MPI_MIN, session->comm),
                                 "waiting for an action of the program", err);
    pleat_mpi_quiet_end(session->comm, &handler);
    return failed;
}

static int share(struct pleat_session *session, struct plan *plan, struct pleat_error *err)
{
    MPI_Errhandler handler;
    int failed = pleat_mpi_quiet_begin(session->comm, &handler, err);
    if (!failed)
        failed = pleat_session_tell(session, plan, sizeof(*plan), "planning a change", err);
    pleat_mpi_quiet_end(session->comm, &handler);
    return failed;
}

/* Calls one action on all ranks. PLEAT_RESIZE_REFUSED: it failed on some rank, *err says where. */
static int call(struct pleat_session *session, int number, enum pleat_moment moment,
                struct pleat_error *err)
{
    const struct pleat_own_action *action = &session->actions[number];
    int first = session->size;
    int mine = action->call(session, moment, &session->offer, action->arg);
    int failed = agree(session, mine, &first, err);
    if (failed || first == session->size)
        return failed;
    pleat_error_set(err, PLEAT_E_STATE,
                    "the program's action '%s' %s the change of %d to %d ranks "
                    "failed on rank %d",
                    action->name, moment_name(moment), session->offer.from, session->offer.to,
                    first);
    return PLEAT_RESIZE_REFUSED;
}

/* Plans and calls. *offer: as rank 0 knows it. */
static int run(struct pleat_session *session, enum pleat_moment moment,
               const struct pleat_offer *offer, struct pleat_error *err)
{
    struct plan plan;
    memset(&plan, 0, sizeof(plan));
    plan.offer = *offer;
    if (session->rank == 0)
        make_plan(session, moment, &plan);
    int code = share(session, &plan, err);
    if (code)
        return code;
    session->begun_count = 0;
    if (plan.offer.to)
        session->offer = plan.offer;
    if (plan.count < 0) {
        pleat_error_set(err, PLEAT_E_INVALID,
                        "the program's plan %s the change of %d to %d ranks names actions that "
                        "there are not, or one twice",
                        moment_name(moment), plan.offer.from, plan.offer.to);
        return PLEAT_RESIZE_REFUSED;
    }
    for (int i = 0; i < plan.count && !code; i++) {
        session->begun[session->begun_count++] = plan.actions[i];
        code = call(session, plan.actions[i], moment, err);
    }
    return code;
}

int pleat_actions_before(struct pleat_session *session, const struct pleat_offer *offer,
                         struct pleat_error *err)
{
    struct pleat_error why = {0};
    session->begun_count = 0;
    int code = session->action_count ? run(session, PLEAT_BEFORE, offer, err) : 0;
    if (code != PLEAT_RESIZE_REFUSED || !pleat_actions_undo(session, &why))
        return code;
    *err = why;
    return why.code;
}

int pleat_actions_after(struct pleat_session *session, struct pleat_error *err)
{
    const struct pleat_offer offer = session->offer;
    int code = session->action_count ? run(session, PLEAT_AFTER, &offer, err) : 0;
    session->begun_count = 0;
    return code == PLEAT_RESIZE_REFUSED ? err->code : code;
}

int pleat_actions_undo(struct pleat_session *session, struct pleat_error *err)
{
    int code = 0;
    while (session->begun_count && !code)
        code = call(session, session->begun[--session->begun_count], PLEAT_NOT_DONE, err);
    return code == PLEAT_RESIZE_REFUSED ? err->code : code;
}

int pleat_actions_resumed(struct pleat_session *session, struct pleat_error *err)
{
    struct pleat_mailbox_request request = {0};
    session->offer = (struct pleat_offer){.to = session->size};
    if (session->rank == 0 && session->mailbox &&
        !pleat_mailbox_request(&session->self, &request) && request.from)
        session->offer = (struct pleat_offer){.from = (int)request.from,
                                              .to = session->size,
                                              .mandatory = request.mandatory,
                                              .relaunch = 1,
                                              .occasion = (enum pleat_occasion)request.occasion};
    int code =
        pleat_session_tell(session, &session->offer, sizeof(session->offer), "beginning", err);
    if (!code)
        code = pleat_actions_after(session, err);
    if (!code)
        return 0;
    /* the agent must know before any rank ends the program */
    if (pleat_session_leads(session) && session->mailbox)
        pleat_mailbox_cannot_begin(&session->self, err->text);
    (void)MPI_Barrier(session->comm);
    return code;
}

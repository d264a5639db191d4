/* begin.c - the ranks begin: together, or as those that join. */
#include "app/session.h"
#include "base/clock.h"

/* No rank may pass an adaptation point before rank 0 has announced it. */
static int begin_announcing(struct pleat_session *session, struct pleat_error *err)
{
    int agreed = 0;
    if (!session->mailbox || !session->announces || session->joiner)
        return 0;
    if (pleat_session_leads(session))
        pleat_mailbox_announce(&session->self);
    return pleat_mpi_agree(session->comm, 0, &agreed, err);
}

/* Checks that all ranks that start together have registered the same. Rank 0 tells the agent of a
 * difference before any rank knows, since the first rank that knows may end the program. */
static int compare(struct pleat_session *session, struct pleat_error *err)
{
    int differs = 0;
    struct pleat_error why = {0};
    if (session->joiner)
        return 0;
    const uint64_t shape = pleat_points_hash(session, pleat_session_shape(session));
    const uint64_t hashes[2] = {pleat_actions_hash(session, shape), pleat_session_grids(session)};
    uint64_t hash = pleat_session_hash(hashes[0], hashes, sizeof(hashes));
    int failed = pleat_registry_check(session, session->comm, hash, false, &differs, &why);
    if (!failed && !differs)
        return 0;
    if (!failed && pleat_session_leads(session) && session->mailbox)
        pleat_mailbox_cannot_begin(&session->self, why.text);
    if (!failed)
        failed = pleat_mpi_check(MPI_Barrier(session->comm), "beginning", &why);
    session->state = PLEAT_SESSION_BROKEN;
    if (err)
        *err = why;
    return failed ? failed : differs;
}

/* Ranks that the program cannot use leave: PLEAT_LEAVE, and err has no code. */
static int begin_fitting(struct pleat_session *session, struct pleat_error *err)
{
    int fits = session->size;
    int code = pleat_session_fit(session, &fits, err);
    if (code < 0)
        session->state = PLEAT_SESSION_BROKEN;
    if (code == PLEAT_LEAVE)
        pleat_resize_leave(session);
    if (!code && fits != session->size)
        code = pleat_resize_fit(session, fits, err);
    if (code == PLEAT_LEAVE && err)
        *err = (struct pleat_error){0};
    return code;
}

static int join(struct pleat_session *session, struct pleat_error *err)
{
    struct pleat_error why = {0};
    int code = pleat_resize_join(session, err);
    if (code)
        return code;
    code = pleat_actions_after(session, &why);
    if (!code)
        return 0;
    session->state = PLEAT_SESSION_BROKEN;
    if (err)
        *err = why;
    return code;
}

int pleat_session_begin(struct pleat_session *session, struct pleat_error *err)
{
    if (session->state != PLEAT_SESSION_OPEN)
        return pleat_error_set(err, PLEAT_E_STATE, "the session has begun already, or is broken");
    session->point.at = session->joiner || session->resumed ? 0 : -1;
    int code = compare(session, err);
    if (!code && session->mailbox && session->rank == 0 && !session->joiner)
        pleat_points_tell(session);
    if (!code)
        code = begin_announcing(session, err);
    if (!code && !session->joiner)
        code = begin_fitting(session, err);
    if (code)
        return code;
    if (session->joiner)
        code = join(session, err);
    else if (session->resumed)
        code = pleat_session_resume(session, err);
    else if (session->mailbox && pleat_session_leads(session))
        pleat_mailbox_begun(&session->self, NULL);
    if (code)
        return code;
    if (session->mailbox && session->resumed)
        pleat_points_resumed(session);
    session->state = PLEAT_SESSION_RUNNING;
    session->last_ns = pleat_clock_monotonic_ns();
    pleat_session_tell_grid(session);
    if (!session->joiner)
        pleat_interval_begin(session);
    pleat_asked_begin(session);
    pleat_freeing_begin(&session->freeing);
    return session->joiner || session->resumed ? PLEAT_JOINED : PLEAT_STARTED;
}

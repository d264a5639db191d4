/* queries.c - what a program may ask about its session, and whether it may call now. */
#include "app/session.h"

int pleat_session_check_running(const struct pleat_session *session, const char *function,
                                struct pleat_error *err)
{
    if (session->state == PLEAT_SESSION_RUNNING)
        return 0;
    return pleat_error_set(err, PLEAT_E_STATE,
                           "%s comes after pleat_session_begin and before the end", function);
}

MPI_Comm pleat_session_comm(const struct pleat_session *session)
{
    return session->comm;
}

MPI_Fint pleat_session_comm_fortran(const struct pleat_session *session)
{
    return MPI_Comm_c2f(session->comm);
}

int pleat_session_rank(const struct pleat_session *session)
{
    return session->rank;
}

int pleat_session_size(const struct pleat_session *session)
{
    return session->size;
}

int pleat_session_joined(const struct pleat_session *session)
{
    return session->joiner;
}

int pleat_session_resumed(const struct pleat_session *session)
{
    return session->resumed;
}

int pleat_session_malleable(const struct pleat_session *session)
{
    return session->mailbox != NULL;
}

const struct pleat_error *pleat_session_failure(const struct pleat_session *session)
{
    return &session->failure;
}

void pleat_session_on_grid(struct pleat_session *session, pleat_grid_callback callback, void *arg)
{
    session->on_grid = callback;
    session->on_grid_arg = arg;
}

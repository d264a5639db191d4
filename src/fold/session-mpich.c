/* session-mpich.c - sessions (MPI 4), which MPICH has and Open MPI 4.1 does not: a process is
 * folded from the first one that it opens to the last one that it closes. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fold/life.h"
#include "fold/real.h"

/* Number of open sessions. Without MPI_COMM_WORLD it is not known who sends to whom, only who
 * waits. */
static _Atomic int sessions;
static bool folded_by_session;
/* with a profiling tool in between, MPI_X calls PMPI_X: that is one call */
static _Thread_local bool in_session_call;

typedef int init_call(uintptr_t info, uintptr_t handler, MPI_Session *session);
typedef int finalize_call(MPI_Session *session);
FOLD_EXPORT init_call fold_MPI_Session_init __asm__("MPI_Session_init");
FOLD_EXPORT init_call fold_PMPI_Session_init __asm__("PMPI_Session_init");
FOLD_EXPORT finalize_call fold_MPI_Session_finalize __asm__("MPI_Session_finalize");
FOLD_EXPORT finalize_call fold_PMPI_Session_finalize __asm__("PMPI_Session_finalize");

static int begin_session(init_call *real, uintptr_t info, uintptr_t handler, MPI_Session *session)
{
    if (!real)
        return MPI_ERR_INTERN;
    if (in_session_call)
        return real(info, handler, session);
    in_session_call = true;
    int code = real(info, handler, session);
    in_session_call = false;
    if (!code && atomic_fetch_add(&sessions, 1) == 0)
        folded_by_session = fold_begin(false);
    return code;
}

static int end_session(finalize_call *real, MPI_Session *session)
{
    if (!real)
        return MPI_ERR_INTERN;
    if (in_session_call)
        return real(session);
    if (atomic_fetch_sub(&sessions, 1) == 1 && folded_by_session)
        fold_end();
    in_session_call = true;
    int code = real(session);
    in_session_call = false;
    return code;
}

int fold_MPI_Session_init(uintptr_t info, uintptr_t handler, MPI_Session *session)
{
    return begin_session((init_call *)fold_real_symbol("MPI_Session_init"), info, handler, session);
}

int fold_PMPI_Session_init(uintptr_t info, uintptr_t handler, MPI_Session *session)
{
    return begin_session((init_call *)fold_real_symbol("PMPI_Session_init"), info, handler,
                         session);
}

int fold_MPI_Session_finalize(MPI_Session *session)
{
    return end_session((finalize_call *)fold_real_symbol("MPI_Session_finalize"), session);
}

int fold_PMPI_Session_finalize(MPI_Session *session)
{
    return end_session((finalize_call *)fold_real_symbol("PMPI_Session_finalize"), session);
}

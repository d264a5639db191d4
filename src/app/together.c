/* together.c - the ranks agree, in the mailbox where they are all in it.
 *
 * Around a relaunch the ranks of two programs are there, more than there are processors. In an MPI
 * whose ranks spin while they wait, as MPICH's do, each rank then costs a collective operation a
 * time slice of the system. In the mailbox they sleep. */
#include "app/session.h"

int pleat_session_agree(struct pleat_session *session, int code, int *agreed,
                        struct pleat_error *err)
{
    if (!session->meets)
        return pleat_mpi_agree(session->comm, code, agreed, err);
    *agreed = pleat_mailbox_meet(&session->self, (uint32_t)session->size, code, NULL, 0);
    return 0;
}

int pleat_session_tell(struct pleat_session *session, void *data, size_t bytes, const char *what,
                       struct pleat_error *err)
{
    if (!session->meets || bytes > PLEAT_MAILBOX_TOLD)
        return pleat_mpi_check(MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, session->comm), what, err);
    (void)pleat_mailbox_meet(&session->self, (uint32_t)session->size, 0, data, bytes);
    return 0;
}

/* join.c - new ranks join those that run: what both say first, and the new ones' part. */
#include "app/session.h"

#define HELLO_MAGIC UINT64_C(0x34706d6f636c7770)

/* What rank 0 sends to all ranks before the data move. */
struct hello {
    uint64_t magic;
    uint64_t iteration; /* number of the adaptation point at which the resize happens */
    uint64_t next_save; /* where the ranks meet next (interval.c) */
    int64_t old_size;
    int64_t new_size;
    int64_t in_data;
    int64_t checks;
    struct pleat_offer offer;
};

struct pleat_change pleat_change_to(const struct pleat_session *session, MPI_Comm comm,
                                    int old_size, int new_size)
{
    return (struct pleat_change){.comm = comm,
                                 .rank = session->rank,
                                 .old_size = old_size,
                                 .new_size = new_size,
                                 .in_data = session->in_data,
                                 .data = session->saved ? pleat_state_data(session->saved) : -1};
}

int pleat_hello_say(struct pleat_session *session, const struct pleat_change *change,
                    struct pleat_error *err)
{
    struct hello hello = {.magic = HELLO_MAGIC,
                          .iteration = session->self.iteration,
                          .next_save = pleat_interval_after(session),
                          .old_size = change->old_size,
                          .new_size = change->new_size,
                          .in_data = change->in_data,
                          .checks = session->checks,
                          .offer = session->offer};
    return pleat_mpi_check(MPI_Bcast(&hello, (int)sizeof(hello), MPI_BYTE, 0, change->comm),
                           "greeting between old and new ranks", err);
}

int pleat_hello_compare(struct pleat_session *session, const struct pleat_change *change, int *code,
                        struct pleat_error *err)
{
    int differs = 0;
    uint64_t hash = pleat_points_hash(session, pleat_session_shape(session));
    hash = pleat_actions_hash(session, hash);
    int failed =
        pleat_registry_check(session, change->comm, hash, *code != 0, &differs, *code ? NULL : err);
    *code = *code ? *code : differs;
    return failed;
}

static int join(struct pleat_session *session, int code, struct pleat_error *err)
{
    struct hello hello = {0};
    int failed = pleat_mpi_check(MPI_Bcast(&hello, (int)sizeof(hello), MPI_BYTE, 0, session->comm),
                                 "greeting between old and new ranks", err);
    if (failed)
        return failed;
    session->in_data = hello.in_data;
    session->interval.next = hello.next_save;
    session->checks = hello.checks;
    session->offer = hello.offer;
    pleat_sums_expect(session);
    const struct pleat_change change =
        pleat_change_to(session, session->comm, (int)hello.old_size, (int)hello.new_size);
    if (!code && hello.magic != HELLO_MAGIC)
        code = pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "old and new ranks use different versions of libpleat");
    failed = pleat_hello_compare(session, &change, &code, err);
    if (failed)
        return failed;
    if (!code && session->in_data && change.data < 0)
        code = pleat_error_set(err, PLEAT_E_CORRUPT,
                               "this rank has no memory for the data themselves (" PLEAT_STATE_ENV
                               " is not set)");
    if (!code)
        code = pleat_mailbox_attach(session->mailbox, (uint32_t)session->rank, hello.iteration,
                                    session->doorbell, &session->self);
    failed = pleat_move_all(session, &change, code, err);
    session->meets = !failed;
    return failed || !session->in_data ? failed : pleat_save_end(session, err);
}

static int finish_join(struct pleat_session *session, int code, struct pleat_error *err)
{
    struct pleat_error why = {0};
    int outcome = join(session, code, &why);
    if (outcome == 0) {
        (void)MPI_Comm_set_errhandler(session->comm, MPI_ERRORS_ARE_FATAL);
        return 0;
    }
    session->state = PLEAT_SESSION_BROKEN;
    if (outcome == PLEAT_RESIZE_REFUSED)
        MPI_Comm_free(&session->comm);
    if (err)
        *err = why;
    return PLEAT_LEAVE;
}

int pleat_resize_join(struct pleat_session *session, struct pleat_error *err)
{
    if (!session->excuse.code)
        return finish_join(session, 0, err);
    pleat_resize_refuse(session, session->excuse.code);
    if (err)
        *err = session->excuse;
    return PLEAT_LEAVE;
}

void pleat_resize_refuse(struct pleat_session *session, int code)
{
    (void)finish_join(session, code, NULL);
}

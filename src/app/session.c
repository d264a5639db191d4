/* session.c - a session begins and ends. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/checkpointing.h"
#include "app/nodes.h"

/* The MPI that this library was built for. */
#if PLEAT_MPI_KIND == 1
#define THIS_MPI "Open MPI"
#elif PLEAT_MPI_KIND == 2
#define THIS_MPI "MPICH"
#else
#error "libpleat does not know this MPI implementation"
#endif

/* There is one mailbox and one set of ranks, so there can be one session. */
static bool session_exists;
static unsigned sessions_created;

/* ---- creating ---- */

/* The value of a variable; on a node that another node leads, the value of the variable that takes
 * its place there. NULL: there is none, or it is empty. */
static const char *value_here(const char *name, const char *name_here)
{
    const char *leading = getenv(PLEAT_MAILBOX_HERE_ENV);
    const char *value = getenv(leading && *leading ? name_here : name);
    return value && *value ? value : NULL;
}

/* Opens the mailbox, and the slots of the saved state if the agent has them. 0 also without Pleat.
 */
static int open_mailbox(struct pleat_session *session, struct pleat_error *err)
{
    const char *path = value_here(PLEAT_MAILBOX_ENV, PLEAT_MAILBOX_HERE_ENV);
    if (!path)
        return 0;
    int code = pleat_mailbox_open(path, &session->mailbox, err);
    const char *paths = value_here(PLEAT_STATE_ENV, PLEAT_STATE_HERE_ENV);
    if (!code && paths)
        code = pleat_state_open(paths, &session->saved, err);
    return code;
}

static void open_doorbell(struct pleat_session *session)
{
    const char *path = value_here(PLEAT_DOORBELL_ENV, PLEAT_DOORBELL_HERE_ENV);
    const char *here = getenv(PLEAT_DOORBELL_HERE_ENV);
    /* On a node that another one leads it is not known yet which rank is the first. The doorbell is
     * opened for reading, too, so that a write never raises SIGPIPE in the program. Without it the
     * agent just notices changes later. */
    if (path && (session->rank == 0 || (here && *here)))
        session->doorbell = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

static int find_place(struct pleat_session *session, struct pleat_error *err)
{
    int code =
        pleat_mpi_check(MPI_Comm_rank(session->comm, &session->rank), "finding the rank", err);
    if (!code)
        code =
            pleat_mpi_check(MPI_Comm_size(session->comm, &session->size), "finding the size", err);
    return code;
}

/* Attaches all ranks to the mailbox. No rank may reach an adaptation point before all are attached
 * and the size is known. */
static int attach_all(struct pleat_session *session, int code, struct pleat_error *err)
{
    int agreed = 0;
    if (session->rank == 0 && !code)
        code = pleat_session_claim_state(session, err);
    int failed = pleat_session_find_state(session, &code, err);
    if (failed)
        return failed;
    if (!code && session->mailbox)
        code = pleat_session_attach(session, err);
    failed = pleat_mpi_agree(session->comm, code, &agreed, err);
    if (failed || code)
        return failed ? failed : code;
    if (agreed)
        return pleat_error_set(err, agreed, "another rank could not begin: its own error says why");
    if (!session->mailbox)
        return 0;
    const bool spread = session->nodes && session->nodes->count > 1;
    if (pleat_session_leads(session))
        code = pleat_mailbox_set_size(&session->self, (uint32_t)session->size);
    failed = spread
                 ? pleat_mpi_agree(session->comm, code, &agreed, err)
                 : pleat_mpi_check(MPI_Bcast(&code, 1, MPI_INT, 0, session->comm), "starting", err);
    code = spread ? agreed : code;
    if (!failed && code)
        return pleat_error_set(err, code, "the mailbox refuses the size");
    session->meets = !failed && !spread;
    return failed;
}

static int start_among_world(struct pleat_session *session, int code, struct pleat_error *err)
{
    MPI_Errhandler handler;
    int failed =
        pleat_mpi_check(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler), "starting", err);
    if (failed)
        return failed;
    failed = pleat_mpi_check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "starting",
                             err);
    if (!failed)
        failed = pleat_mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &session->comm),
                                 "duplicating MPI_COMM_WORLD", err);
    if (!failed)
        failed = find_place(session, err);
    if (!failed) {
        open_doorbell(session);
        failed = attach_all(session, code, err);
    }
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (session->comm != MPI_COMM_NULL)
        (void)MPI_Comm_set_errhandler(session->comm, handler);
    MPI_Errhandler_free(&handler);
    return failed;
}

/* The running ranks wait for this one. So an error of this rank is kept until begin, where the
 * others are told of it. */
static int start_as_joiner(struct pleat_session *session, MPI_Comm parent, int code,
                           const struct pleat_error *why, struct pleat_error *err)
{
    session->joiner = true;
    if (code)
        session->excuse = *why;
    int failed = pleat_mpi_merge(&parent, true, &session->comm, err);
    return failed ? failed : find_place(session, err);
}

/* Whether this rank was spawned by a growth. The program may also have been spawned by another one
 * for its own purposes. */
static bool spawned_to_join(const struct pleat_session *session, int code, MPI_Comm parent)
{
    uint64_t iteration;
    const char *path = value_here(PLEAT_MAILBOX_ENV, PLEAT_MAILBOX_HERE_ENV);
    if (parent == MPI_COMM_NULL || !path)
        return false;
    return code || pleat_mailbox_entered(session->mailbox, &iteration) == 0;
}

static int check_caller(int api_version, int mpi_kind, struct pleat_error *err)
{
    int initialized = 0;
    int finalized = 0;
    if (mpi_kind != PLEAT_MPI_KIND)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "this libpleat is for " THIS_MPI ", but the program was compiled "
                               "with another MPI: link it with the libpleat of that MPI");
    if (api_version > PLEAT_API_VERSION)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "the program needs version %d of libpleat's interface, this library "
                               "has %d: use a newer libpleat",
                               api_version, PLEAT_API_VERSION);
    if (MPI_Initialized(&initialized) || !initialized || MPI_Finalized(&finalized) || finalized)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "a session lives between MPI_Init and MPI_Finalize");
    if (session_exists)
        return pleat_error_set(err, PLEAT_E_STATE, "there is a session already: finish it first");
    return 0;
}

/* An MPI's launcher may have started the program with the usual actions of these signals. */
static void outlive_announcements(void)
{
    const char *announced = getenv(PLEAT_ANNOUNCED_ENV);
    static const int numbers[] = {SIGUSR1, SIGUSR2};
    for (size_t i = 0; announced && *announced && i < 2; i++) {
        struct sigaction now;
        if (!sigaction(numbers[i], NULL, &now) && now.sa_handler == SIG_DFL) {
            now.sa_handler = SIG_IGN;
            (void)sigaction(numbers[i], &now, NULL);
        }
    }
}

int pleat_session_create_for(struct pleat_session **session, int api_version, int mpi_kind,
                             struct pleat_error *err)
{
    int code = check_caller(api_version, mpi_kind, err);
    if (code)
        return code;
    struct pleat_session *made = calloc(1, sizeof(*made));
    if (!made)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for a session");
    made->comm = MPI_COMM_NULL;
    made->doorbell = -1;
    made->number = sessions_created + 1;
    pleat_session_identify(&made->own);
    outlive_announcements();
    session_exists = true;
    MPI_Comm parent = MPI_COMM_NULL;
    struct pleat_error why = {0};
    int opened = open_mailbox(made, &why);
    code = pleat_mpi_check(MPI_Comm_get_parent(&parent), "looking for a parent", err);
    if (!code && spawned_to_join(made, opened, parent)) {
        code = start_as_joiner(made, parent, opened, &why, err);
    } else if (!code) {
        code = start_among_world(made, opened, err);
        if (code && code == opened && err)
            *err = why;
    }
    if (code) {
        made->state = PLEAT_SESSION_BROKEN;
        pleat_session_finish(made);
        return code;
    }
    sessions_created++;
    *session = made;
    return 0;
}

/* ---- ending ---- */

static void release_communicator(struct pleat_session *session)
{
    int finalized = 0;
    if (session->comm == MPI_COMM_NULL || session->state == PLEAT_SESSION_BROKEN ||
        MPI_Finalized(&finalized) || finalized)
        return;
    pleat_registry_release(session);
    MPI_Comm_free(&session->comm);
}

void pleat_session_finish(struct pleat_session *session)
{
    if (!session)
        return;
    pleat_asked_finish(session);
    if (session->joiner && session->state == PLEAT_SESSION_OPEN)
        pleat_resize_refuse(session, PLEAT_E_STATE);
    release_communicator(session);
    if (session->mailbox && pleat_session_leads(session) && session->rank >= 0 &&
        session->state <= PLEAT_SESSION_RUNNING)
        pleat_mailbox_finish(&session->self);
    pleat_freeing_end(&session->freeing);
    while (session->objects) {
        struct pleat_object *next = session->objects->next;
        session->objects->ops->destroy(session->objects);
        session->objects = next;
    }
    pleat_array_finish(&session->values);
    pleat_own_limits_finish(&session->limits);
    free(session->packed);
    pleat_from_close(session);
    pleat_nodes_drop(session);
    if (session->doorbell >= 0)
        close(session->doorbell);
    pleat_state_close(session->saved);
    pleat_mailbox_close(session->mailbox);
    free(session);
    session_exists = false;
}

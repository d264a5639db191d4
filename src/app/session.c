#include "app/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/checkpointing.h"
#include "base/clock.h"

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

/* ---- creating ---- */

/* Opens the mailbox, and the slots of the saved state if the agent has them. 0 also without Pleat.
 */
static int open_mailbox(struct pleat_session *session, struct pleat_error *err)
{
    const char *path = getenv(PLEAT_MAILBOX_ENV);
    if (!path || !*path)
        return 0;
    int code = pleat_mailbox_open(path, &session->mailbox, err);
    const char *paths = getenv(PLEAT_STATE_ENV);
    if (!code && paths && *paths)
        code = pleat_state_open(paths, &session->saved, err);
    return code;
}

static void open_doorbell(struct pleat_session *session)
{
    const char *path = getenv(PLEAT_DOORBELL_ENV);
    /* Opened for reading, too, so that a write never raises SIGPIPE in the program. Without a
     * doorbell the agent just notices changes later. */
    if (path && *path && session->rank == 0)
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

static int attach_first(struct pleat_session *session, struct pleat_error *err)
{
    if (pleat_mailbox_attach(session->mailbox, (uint32_t)session->rank, session->held.iteration,
                             session->doorbell, &session->self))
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "the program was started with %d ranks, more than this job may have",
                               session->size);
    return 0;
}

/* Rank 0 takes the data file, unless there is none, or another program of the run has it. Then the
 * objects are in private memory, and copies are saved. */
static int take_data(struct pleat_session *session, struct pleat_error *err)
{
    const char *save = getenv(PLEAT_SAVE_ENV);
    bool keep = session->resumed && pleat_state_is_data(session->saved);
    if (save && *save && strcmp(save, "resize"))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               PLEAT_SAVE_ENV " is '%s': it must be 'resize', or not be set", save);
    if (save && *save && !keep)
        return 0;
    int code = pleat_state_take_data(session->saved, keep, err);
    session->in_data = !code;
    return keep ? code : 0;
}

/* Rank 0 asks the agent whether this program goes on from a state, and from which generation. A
 * state that is there may be another program's. */
static int take_state(struct pleat_session *session, struct pleat_error *err)
{
    if (session->waits)
        return 0;
    uint64_t generation = session->mailbox ? pleat_mailbox_take_resume(session->mailbox) : 0;
    if (!generation)
        return 0;
    int code = session->saved ? pleat_state_find(session->saved, &session->held, err)
                              : pleat_error_set(err, PLEAT_E_CORRUPT,
                                                PLEAT_STATE_ENV " is not set, but there is a state "
                                                                "to go on from");
    if (!code && session->held.generation != generation)
        code = pleat_error_set(err, PLEAT_E_CORRUPT,
                               "another state is held than the one to go on from");
    session->resumed = !code;
    return code;
}

/* Rank 0: whether the state to go on from is still being computed. */
static int find_out_whether_to_wait(struct pleat_session *session, struct pleat_error *err)
{
    int code = session->mailbox ? pleat_mailbox_claim(session->mailbox) : 0;
    if (code < 0)
        return pleat_error_set(err, code,
                               "another program waits to go on from the state of this run");
    session->waits = session->resumed = code == 1;
    return 0;
}

bool pleat_session_has_data(const struct pleat_session *session)
{
    return session->saved && pleat_state_data(session->saved) >= 0;
}

/* Another rank finds the state that rank 0 found. */
static int find_same(struct pleat_session *session, const struct pleat_state_header *held,
                     int *code, struct pleat_error *err)
{
    struct pleat_state_header mine = {0};
    session->resumed = true;
    session->held = *held;
    if (!session->saved || pleat_state_find(session->saved, &mine, NULL) ||
        memcmp(&mine, held, sizeof(mine)) != 0)
        *code = pleat_error_set(err, PLEAT_E_CORRUPT,
                                "this rank does not find the state that rank 0 found");
    return 0;
}

/* Collective: finds the state to go on from, and whether the objects are in the data file. What
 * rank 0 finds counts, and the others must find the same. *code: this rank's error. */
static int find_state(struct pleat_session *session, int *code, struct pleat_error *err)
{
    struct {
        struct pleat_state_header held; /* generation 0: the program begins anew */
        bool in_data;
        bool waits;
        bool checks;
    } found;
    memset(&found, 0, sizeof(found));
    if (session->rank == 0 && !*code)
        *code = take_state(session, err);
    /* a state that is held, or waited for, is later than the checkpoint that it was started from */
    if (session->rank == 0 && !*code && !session->resumed && !session->waits)
        *code = pleat_from_find(session, err);
    if (session->rank == 0 && !*code && session->saved && !session->waits)
        *code = take_data(session, err);
    if (session->rank == 0 && session->resumed)
        found.held = session->held;
    found.in_data = session->in_data;
    found.waits = session->waits;
    if (session->rank == 0 && !*code)
        *code = pleat_sums_wanted(&session->checks, err);
    found.checks = session->checks;
    int failed = pleat_mpi_check(MPI_Bcast(&found, (int)sizeof(found), MPI_BYTE, 0, session->comm),
                                 "looking for a state", err);
    if (!failed)
        failed = pleat_from_share(session, code, err);
    if (failed || session->rank == 0)
        return failed;
    session->in_data = found.in_data;
    if (found.waits)
        session->waits = session->resumed = true;
    session->checks = found.checks;
    if (!*code && session->in_data && !pleat_session_has_data(session))
        *code = pleat_error_set(err, PLEAT_E_CORRUPT,
                                "this rank has no memory for the data themselves (" PLEAT_STATE_ENV
                                " differs from rank 0's)");
    return *code || !found.held.generation ? 0 : find_same(session, &found.held, code, err);
}

/* Attaches all ranks to the mailbox. No rank may reach an adaptation point before all are attached
 * and the size is known. */
static int attach_all(struct pleat_session *session, int code, struct pleat_error *err)
{
    int agreed = 0;
    if (session->rank == 0 && !code)
        code = find_out_whether_to_wait(session, err);
    int failed = find_state(session, &code, err);
    if (failed)
        return failed;
    if (!code && session->mailbox)
        code = attach_first(session, err);
    failed = pleat_mpi_agree(session->comm, code, &agreed, err);
    if (failed || code)
        return failed ? failed : code;
    if (agreed)
        return pleat_error_set(err, agreed, "another rank could not begin: its own error says why");
    if (!session->mailbox)
        return 0;
    if (session->rank == 0)
        code = pleat_mailbox_set_size(&session->self, (uint32_t)session->size);
    failed = pleat_mpi_check(MPI_Bcast(&code, 1, MPI_INT, 0, session->comm), "starting", err);
    return failed ? failed : code ? pleat_error_set(err, code, "the mailbox refuses the size") : 0;
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

/* The running ranks wait for this one. So an error of this rank is kept until begin, where it is
 * told to them. */
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
    const char *path = getenv(PLEAT_MAILBOX_ENV);
    if (parent == MPI_COMM_NULL || !path || !*path)
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
    pleat_session_identify(&made->own);
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
    *session = made;
    return 0;
}

/* Waits, asleep, until the processes before these have left their state, and finds it. Collective;
 * negative on all ranks or on none. */
static int await_state(struct pleat_session *session, struct pleat_error *err)
{
    int agreed = 0;
    int code = 0;
    pleat_mailbox_wait(&session->self);
    session->waits = false;
    int failed = find_state(session, &code, err);
    if (failed)
        return failed;
    if (!code && !session->held.generation)
        code = pleat_error_set(err, PLEAT_E_CORRUPT, "there is no state to go on from");
    if (!code)
        code = attach_first(session, err);
    failed = pleat_mpi_agree(session->comm, code, &agreed, err);
    if (failed || !agreed)
        return failed;
    if (!code)
        (void)pleat_error_set(err, agreed, "another rank does not find the state (%s)",
                              pleat_error_name(agreed));
    if (session->rank == 0)
        pleat_mailbox_cannot_begin(&session->self, err->text);
    failed = pleat_mpi_check(MPI_Barrier(session->comm), "beginning", err);
    return failed ? failed : agreed;
}

static int resume(struct pleat_session *session, struct pleat_error *err)
{
    struct pleat_error why = {0};
    int code = session->waits ? await_state(session, &why) : 0;
    if (!code)
        code = session->from ? pleat_from_load(session, &why) : pleat_load_all(session, &why);
    if (!code)
        return 0;
    session->state = PLEAT_SESSION_BROKEN;
    if (err)
        *err = why;
    return code;
}

int pleat_session_announce(struct pleat_session *session, struct pleat_error *err)
{
    if (session->state != PLEAT_SESSION_OPEN)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "pleat_session_announce comes before pleat_session_begin");
    session->announces = true;
    return 0;
}

int pleat_session_pending(const struct pleat_session *session)
{
    return session->mailbox && session->announces && session->state == PLEAT_SESSION_RUNNING &&
           pleat_mailbox_pending(&session->self);
}

int pleat_session_limit(struct pleat_session *session, int most, struct pleat_error *err)
{
    if (most < 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a program cannot use %d ranks at most: at least 1, or 0 for any "
                               "number",
                               most);
    if (session->mailbox && session->rank == 0 && !session->joiner)
        pleat_mailbox_limit(&session->self, (uint32_t)most);
    return 0;
}

/* No rank may pass an adaptation point before rank 0 has announced it. */
static int begin_announcing(struct pleat_session *session, struct pleat_error *err)
{
    int agreed = 0;
    if (!session->mailbox || !session->announces || session->joiner)
        return 0;
    if (session->rank == 0)
        pleat_mailbox_announce(&session->self);
    return pleat_mpi_agree(session->comm, 0, &agreed, err);
}

/* All ranks that start together have registered the same. Rank 0 tells the agent before any rank
 * knows, since the first one that knows may end the program. */
static int compare(struct pleat_session *session, struct pleat_error *err)
{
    int differs = 0;
    struct pleat_error why = {0};
    if (session->joiner)
        return 0;
    const uint64_t hashes[2] = {pleat_session_shape(session), pleat_session_grids(session)};
    uint64_t hash = pleat_session_hash(hashes[0], hashes, sizeof(hashes));
    int failed = pleat_registry_check(session, session->comm, hash, false, &differs, &why);
    if (!failed && !differs)
        return 0;
    if (!failed && session->rank == 0 && session->mailbox)
        pleat_mailbox_cannot_begin(&session->self, why.text);
    if (!failed)
        failed = pleat_mpi_check(MPI_Barrier(session->comm), "beginning", &why);
    session->state = PLEAT_SESSION_BROKEN;
    if (err)
        *err = why;
    return failed ? failed : differs;
}

/* Ranks of which the program can make no use leave: PLEAT_LEAVE. */
static int begin_fitting(struct pleat_session *session, struct pleat_error *err)
{
    int fits = session->size;
    int code = pleat_session_fit(session, &fits, err);
    if (code)
        session->state = PLEAT_SESSION_BROKEN;
    return code || fits == session->size ? code : pleat_resize_fit(session, fits, err);
}

int pleat_session_begin(struct pleat_session *session, struct pleat_error *err)
{
    if (session->state != PLEAT_SESSION_OPEN)
        return pleat_error_set(err, PLEAT_E_STATE, "the session has begun already, or is broken");
    int code = compare(session, err);
    if (!code)
        code = begin_announcing(session, err);
    if (!code && !session->joiner)
        code = begin_fitting(session, err);
    if (code)
        return code;
    if (session->joiner)
        code = pleat_resize_join(session, err);
    else if (session->resumed)
        code = resume(session, err);
    else if (session->mailbox && session->rank == 0)
        pleat_mailbox_begun(&session->self, NULL);
    if (code)
        return code;
    session->state = PLEAT_SESSION_RUNNING;
    session->last_ns = pleat_clock_monotonic_ns();
    return session->joiner || session->resumed ? PLEAT_JOINED : PLEAT_STARTED;
}

/* ---- the adaptation point ---- */

static void answer(struct pleat_session *session)
{
    struct pleat_mailbox_request request;
    uint32_t size = (uint32_t)session->size;
    if (pleat_mailbox_request(&session->self, &request)) {
        pleat_mailbox_answer(&session->self, size);
        return;
    }
    uint32_t accepted = request.target;
    if (session->on_offer && !request.mandatory) {
        int wanted =
            session->on_offer(session->size, (int)request.target, 0, session->on_offer_arg);
        uint32_t low = size < request.target ? size : request.target;
        uint32_t high = size < request.target ? request.target : size;
        accepted = wanted < (int)low ? low : (uint32_t)wanted > high ? high : (uint32_t)wanted;
    } else if (session->on_offer) {
        /* The program is told, but cannot refuse. */
        (void)session->on_offer(session->size, (int)request.target, 1, session->on_offer_arg);
    }
    pleat_mailbox_answer(&session->self, accepted);
}

int pleat_session_adapt(struct pleat_session *session, struct pleat_error *err)
{
    if (__builtin_expect(session->state != PLEAT_SESSION_RUNNING, 0))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "an adaptation point outside of pleat_session_begin and the end");
    if (!session->mailbox)
        return PLEAT_SAME;
    int64_t now = pleat_clock_monotonic_ns();
    session->busy_ns += (uint64_t)(now - session->last_ns);
    session->last_ns = now;
    pleat_mailbox_publish(&session->self, session->busy_ns, ++session->busy_count);
    int arrival = pleat_mailbox_arrive(&session->self);
    if (__builtin_expect(arrival == PLEAT_ARRIVAL_QUIET, 1))
        return PLEAT_SAME;
    int code = PLEAT_SAME;
    if (arrival == PLEAT_ARRIVAL_ANSWER) {
        answer(session);
    } else if (arrival == PLEAT_ARRIVAL_ENTER) {
        code = pleat_resize_enter(session, err);
    } else {
        session->state = PLEAT_SESSION_BROKEN;
        code = pleat_error_set(err, arrival,
                               "the mailbox contradicts itself: do all ranks pass the same number "
                               "of adaptation points?");
    }
    session->last_ns = pleat_clock_monotonic_ns();
    return code;
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
    if (session->joiner && session->state == PLEAT_SESSION_OPEN)
        pleat_resize_refuse(session, PLEAT_E_STATE);
    release_communicator(session);
    if (session->mailbox && session->rank == 0 && session->state <= PLEAT_SESSION_RUNNING)
        pleat_mailbox_finish(&session->self);
    while (session->objects) {
        struct pleat_object *next = session->objects->next;
        session->objects->ops->destroy(session->objects);
        session->objects = next;
    }
    pleat_array_finish(&session->values);
    pleat_own_limits_finish(&session->limits);
    free(session->packed);
    pleat_from_close(session);
    if (session->doorbell >= 0)
        close(session->doorbell);
    pleat_state_close(session->saved);
    pleat_mailbox_close(session->mailbox);
    free(session);
    session_exists = false;
}

/* ---- queries ---- */

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

void pleat_session_on_offer(struct pleat_session *session, pleat_offer_callback callback, void *arg)
{
    session->on_offer = callback;
    session->on_offer_arg = arg;
}

/* resume.c - finds the state that a program goes on from, and goes on. */
#include <stdlib.h>
#include <string.h>

#include "app/checkpointing.h"
#include "app/session.h"

#define LOOK_NS ((int64_t)10000000) /* between two looks whether more is in the data file */
#define LOOK_MOST_NS ((int64_t)1000000000)

int pleat_session_attach(struct pleat_session *session, struct pleat_error *err)
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

int pleat_session_claim_state(struct pleat_session *session, struct pleat_error *err)
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

int pleat_session_find_state(struct pleat_session *session, int *code, struct pleat_error *err)
{
    struct {
        struct pleat_state_header held; /* generation 0: the program begins anew */
        bool in_data;
        uint64_t first_save;
        bool waits;
        bool checks;
        bool from; /* it goes on from a checkpoint */
    } found;
    memset(&found, 0, sizeof(found));
    if (session->rank == 0 && !*code)
        *code = take_state(session, err);
    /* a state that is held, or waited for, is later than the checkpoint that it was started from */
    if (session->rank == 0 && !*code && !session->resumed && !session->waits)
        *code = pleat_from_find(session, err);
    if (session->rank == 0 && !*code && session->saved && !session->waits)
        *code = take_data(session, err);
    if (session->rank == 0 && !*code)
        *code = pleat_interval_read(session, &found.first_save, err);
    if (session->rank == 0 && session->resumed)
        found.held = session->held;
    found.in_data = session->in_data;
    found.waits = session->waits;
    if (session->rank == 0 && !*code)
        *code = pleat_sums_wanted(&session->checks, err);
    found.checks = session->checks;
    found.from = session->from != NULL;
    int failed = pleat_session_tell(session, &found, sizeof(found), "looking for a state", err);
    session->interval.first = found.first_save;
    if (!failed && found.from)
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

/* What can be done while the processes before these compute is not done while they wait for it. */
static enum pleat_foreseen foresee(struct pleat_session *session)
{
    enum pleat_foreseen all = PLEAT_FORESEEN_ALL;
    for (struct pleat_object *object = session->objects; object && pleat_session_has_data(session);
         object = object->next) {
        if (!object->ops->foresee || object->is_foreseen)
            continue;
        enum pleat_foreseen one = object->ops->foresee(object, pleat_state_data(session->saved));
        object->is_foreseen = one == PLEAT_FORESEEN_ALL;
        if (!object->is_foreseen && all != PLEAT_FORESEEN_MORE)
            all = one;
    }
    return all;
}

/* Sleeps until the processes before these have left their state. They may not have filled their
 * arrays yet when these wait. */
static void wait_foreseeing(struct pleat_session *session)
{
    int64_t pause = LOOK_NS;
    enum pleat_foreseen left = foresee(session);
    while (left == PLEAT_FORESEEN_MORE)
        left = foresee(session);
    while (!pleat_mailbox_wait_for(&session->self, left == PLEAT_FORESEEN_ALL    ? PLEAT_NO_LIMIT
                                                   : left == PLEAT_FORESEEN_MORE ? 0
                                                                                 : pause)) {
        left = foresee(session);
        pause = left != PLEAT_FORESEEN_NOTHING ? LOOK_NS : pause < LOOK_MOST_NS ? 2 * pause : pause;
    }
}

/* Waits, asleep, until the processes before these have left their state, and finds it. Collective;
 * negative on all ranks or on none. */
static int await_state(struct pleat_session *session, struct pleat_error *err)
{
    int agreed = 0;
    int code = 0;
    wait_foreseeing(session);
    session->waits = false;
    int failed = pleat_session_find_state(session, &code, err);
    if (failed)
        return failed;
    if (!code && !session->held.generation)
        code = pleat_error_set(err, PLEAT_E_CORRUPT, "there is no state to go on from");
    if (!code)
        code = pleat_session_attach(session, err);
    failed = pleat_session_agree(session, code, &agreed, err);
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

int pleat_session_resume(struct pleat_session *session, struct pleat_error *err)
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

/* resume.c - finds the state that a program goes on from, and goes on. */
#include <stdlib.h>
#include <string.h>

#include "app/checkpointing.h"
#include "app/nodes.h"

#define LOOK_NS ((int64_t)10000000) /* time between two looks whether more is in the data file */
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
 * objects are in private memory, and copies are saved. keep: the state to go on from is there. */
static int take_data(struct pleat_session *session, bool keep, struct pleat_error *err)
{
    const char *save = getenv(PLEAT_SAVE_ENV);
    if (save && *save && strcmp(save, "resize"))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               PLEAT_SAVE_ENV " is '%s': it must be 'resize', or not be set", save);
    if (save && *save && !keep)
        return 0;
    int code = pleat_state_take_data(session->saved, keep, err);
    session->in_data = !code;
    return keep ? code : 0;
}

/* Rank 0 finds the state of this generation. A state that is there may be another program's. */
static int find_first(struct pleat_session *session, uint64_t generation, struct pleat_error *err)
{
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

/* What rank 0 has found, and decided, for all. */
struct found {
    struct pleat_state_header held; /* on one node; generation 0: the program begins anew */
    uint64_t generation; /* on several nodes: of the state to go on from; 0: there is none */
    bool in_data;        /* on one node */
    bool state_in_data;  /* that state is in the data file; on one node */
    uint64_t first_save;
    bool waits;
    bool checks;
    bool from; /* the program goes on from a checkpoint */
    int nodes; /* number of nodes that its ranks are on */
};

static int nodes_of(const struct pleat_session *session)
{
    uint32_t node = 0;
    uint32_t nodes = 1;
    if (session->mailbox)
        pleat_mailbox_node(session->mailbox, &node, &nodes);
    return (int)nodes;
}

/* The first rank of another node claims the state in the mailbox there, as rank 0 has done in its
 * own. claims: no claim was made there yet. */
static int claim_node(struct pleat_session *session, bool waits, bool claims,
                      struct pleat_error *err)
{
    const int said = claims ? pleat_mailbox_claim(session->mailbox) : waits;
    if (!waits)
        (void)pleat_mailbox_take_resume(session->mailbox);
    return said == waits ? 0
                         : pleat_error_set(err, PLEAT_E_CORRUPT,
                                           "the mailboxes of two nodes do not say the same: "
                                           "whether the program waits for a state");
}

/* The first rank of each node takes the data file there, if rank 0 has got one. */
static int take_data_on_nodes(struct pleat_session *session, bool keep, int *code,
                              struct pleat_error *err)
{
    if (session->rank == 0 && session->saved && !*code)
        *code = take_data(session, keep, err);
    int in_data = session->in_data;
    int failed = pleat_mpi_check(MPI_Bcast(&in_data, 1, MPI_INT, 0, session->comm),
                                 "looking for memory", err);
    session->in_data = in_data != 0;
    if (failed || *code || !in_data || session->rank == 0)
        return failed;
    if (!pleat_session_has_data(session))
        *code = pleat_error_set(err, PLEAT_E_CORRUPT,
                                "this rank has no memory for the data themselves (" PLEAT_STATE_ENV
                                " differs from rank 0's)");
    else if (session->nodes->first)
        *code = pleat_state_take_data(session->saved, keep, err);
    return 0;
}

/* On several nodes. */
static int find_on_nodes(struct pleat_session *session, const struct found *found, int *code,
                         struct pleat_error *err)
{
    const bool is_new = !session->nodes;
    bool in_data = false;
    int failed = is_new ? pleat_nodes_find(session, found->nodes, code, err) : 0;
    if (failed || !session->nodes)
        return failed;
    if (!*code && session->nodes->first && session->rank != 0 && session->mailbox)
        *code = claim_node(session, found->waits, is_new, err);
    if (found->waits)
        return 0;
    if (found->generation) {
        session->resumed = true;
        failed = pleat_nodes_seek(session, found->generation, &in_data, code, err);
        if (!failed)
            failed = pleat_nodes_find_state(session, in_data, code, err);
    }
    return failed ? failed : take_data_on_nodes(session, in_data, code, err);
}

/* Finds, on one node, a state that was saved on several. */
static int find_parts(struct pleat_session *session, const struct found *found, int *code,
                      struct pleat_error *err)
{
    int failed = pleat_nodes_find(session, found->nodes, code, err);
    session->resumed = true;
    session->held = found->held;
    return failed || !session->nodes
               ? failed
               : pleat_nodes_find_state(session, found->state_in_data, code, err);
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

/* Rank 0 finds out what it has to tell the others. Of several nodes another one may have the state.
 */
static int find_as_first(struct pleat_session *session, struct found *found,
                         struct pleat_error *err)
{
    const bool spread = nodes_of(session) > 1;
    const uint64_t generation =
        session->mailbox && !session->waits ? pleat_mailbox_take_resume(session->mailbox) : 0;
    int code = generation && !spread ? find_first(session, generation, err) : 0;
    if (spread)
        found->generation = generation;
    /* a state that is held, or waited for, is later than the checkpoint that it was started from */
    if (!code && !generation && !session->waits)
        code = pleat_from_find(session, err);
    const bool keep = session->resumed && session->saved && pleat_state_is_data(session->saved);
    if (!code && session->saved && !session->waits && !spread)
        code = take_data(session, keep, err);
    if (!code)
        code = pleat_interval_read(session, &found->first_save, err);
    if (!code)
        code = pleat_sums_wanted(&session->checks, err);
    if (session->resumed && !spread)
        found->held = session->held;
    found->state_in_data = found->held.generation && keep;
    return code;
}

int pleat_session_find_state(struct pleat_session *session, int *code, struct pleat_error *err)
{
    struct found found;
    memset(&found, 0, sizeof(found));
    if (session->rank == 0 && !*code)
        *code = find_as_first(session, &found, err);
    found.in_data = session->in_data;
    found.waits = session->waits;
    found.checks = session->checks;
    found.from = session->from != NULL;
    found.nodes = nodes_of(session);
    int failed = pleat_session_tell(session, &found, sizeof(found), "looking for a state", err);
    session->interval.first = found.first_save;
    if (!failed && found.from)
        failed = pleat_from_share(session, code, err);
    if (failed)
        return failed;
    session->in_data = found.in_data;
    if (found.waits)
        session->waits = session->resumed = true;
    session->checks = found.checks;
    if (!*code && session->in_data && !pleat_session_has_data(session))
        *code = pleat_error_set(err, PLEAT_E_CORRUPT,
                                "this rank has no memory for the data themselves (" PLEAT_STATE_ENV
                                " differs from rank 0's)");
    if (found.nodes > 1)
        return find_on_nodes(session, &found, code, err);
    if (found.held.nodes > 1)
        return find_parts(session, &found, code, err);
    return *code || !found.held.generation || session->rank == 0
               ? 0
               : find_same(session, &found.held, code, err);
}

/* Does ahead, while the old processes compute, what these would otherwise have to wait for. */
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

/* Sleeps until the old processes have left their state. They may not have filled their arrays yet
 * when the new ones begin to wait. */
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
    if (pleat_session_leads(session))
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

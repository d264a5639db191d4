/* Saves and loads what is registered (shm/state.h): each object on a page of its own, then the
 * values, then the tail: objects whose size changes. Every rank writes its part at its place in the
 * whole, and reads its part from there. It becomes the state when all ranks agree.
 *
 * Where the objects are in the data file, that file is the state: only what is not in it yet is
 * written. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "app/nodes.h"
#include "base/clock.h"

/* ---- saving ---- */

int pleat_save_measure(struct pleat_session *session, struct pleat_error *err)
{
    int code = 0;
    for (struct pleat_object *object = session->objects; object && !code; object = object->next)
        if (object->tail)
            code = object->tail->place(object, session->comm, session->rank, err);
    return code || !session->nodes ? code : pleat_nodes_measure(session, err);
}

int pleat_save_later_session(struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                           "the program has finished a session before this one: started again it "
                           "would go on in its first one, so it saves no state in a later one");
}

void pleat_save_begin(struct pleat_session *session, bool copy, struct pleat_save_order *order,
                      struct pleat_error *err)
{
    *order =
        (struct pleat_save_order){.code = PLEAT_SAVE_NOT, .in_data = session->in_data && !copy};
    if (!session->saved)
        return;
    if (session->number > 1) {
        order->code = pleat_save_later_session(err);
        return;
    }
    struct pleat_state_header wanted = session->own;
    wanted.shape = pleat_session_shape(session);
    wanted.iteration = session->self.iteration;
    wanted.bytes = pleat_session_bytes(session);
    const uint64_t words[2] = {(uint64_t)pleat_clock_real_us(), (uint64_t)getpid()};
    wanted.save = order->save = pleat_session_hash(wanted.program, words, sizeof(words));
    if (session->nodes) {
        wanted.generation = session->nodes->latest + 1;
        wanted.nodes = (uint64_t)session->nodes->count;
    }
    order->code =
        pleat_state_begin(session->saved, &wanted, order->in_data, &order->generation, err);
}

int pleat_save_check_nodes(const struct pleat_session *session,
                           const struct pleat_save_order *order, struct pleat_error *err)
{
    struct pleat_stretches list = {0};
    int code = 0;
    for (const struct pleat_object *object = session->objects; object && !code && !order->in_data;
         object = object->next)
        if (object->ops->parts)
            code = object->ops->parts(object, false, false, &list, err);
    pleat_array_finish(&list);
    return code;
}

/* Values are the same on all ranks, so rank 0 saves its own. */
static int save_values(struct pleat_session *session, struct pleat_error *err)
{
    uint64_t offset = pleat_session_values_at(session);
    int code = 0;
    for (size_t i = 0; !code && i < session->values.count; i++) {
        const struct pleat_value *value = &session->values.items[i];
        code = pleat_state_write(session->saved, offset, value->ptr, value->bytes, err);
        offset += value->bytes;
    }
    return code;
}

static int save_tail(struct pleat_session *session, struct pleat_error *err)
{
    uint64_t offset = pleat_session_tail_at(session);
    int code = 0;
    for (struct pleat_object *object = session->objects; object && !code; object = object->next) {
        if (!object->tail)
            continue;
        code = object->tail->save(object, session->rank, session->saved, offset, err);
        offset += object->tail->bytes(object);
    }
    return code;
}

static int save_part(struct pleat_session *session, const struct pleat_save_order *order,
                     struct pleat_error *err)
{
    int code = 0;
    if (!session->saved)
        return pleat_error_set(err, PLEAT_E_STATE, "this rank has nowhere to save its state to");
    if (!pleat_session_leads(session))
        code = pleat_state_join(session->saved, order->generation, err);
    if (!code && session->rank == 0)
        code = save_values(session, err);
    for (struct pleat_object *object = session->objects; object && !code; object = object->next)
        code = object->ops->save(object, session->saved, err);
    return code ? code : save_tail(session, err);
}

/* Rank 0 makes what was written the state. *code: the outcome, on all ranks. */
static int commit(struct pleat_session *session, int *code, struct pleat_error *err)
{
    if (session->nodes)
        return pleat_nodes_commit(session, code, err);
    if (session->rank == 0)
        *code = pleat_state_commit(session->saved, err);
    return pleat_session_tell(session, code, sizeof(*code), "saving the state", err);
}

/* On several nodes: each node has its part. *code: this rank's error. */
static int save_on_nodes(struct pleat_session *session, const struct pleat_save_order *order,
                         int *code, struct pleat_error *err)
{
    struct pleat_stretches mine = {0};
    *code = pleat_nodes_list(session, order->in_data, &mine, err);
    int failed = pleat_nodes_begin(session, order, code, err);
    if (!failed && !*code)
        *code = save_part(session, order, err);
    if (!failed)
        failed = pleat_nodes_save(session, order, &mine, code, err);
    pleat_array_finish(&mine);
    return failed;
}

int pleat_save_all(struct pleat_session *session, const struct pleat_save_order *order,
                   struct pleat_error *err)
{
    int agreed = 0;
    int failed = 0;
    int code = order->code;
    if (!code && session->nodes)
        failed = save_on_nodes(session, order, &code, err);
    else if (!code)
        code = save_part(session, order, err);
    else if (code < 0 && session->rank != 0)
        pleat_error_set(err, code, "rank 0 could not save the state");
    /* Agrees also if nothing is saved: rank 0 may end the request only when every rank has seen it.
     */
    code = code > 0 ? PLEAT_E_UNSUPPORTED : code;
    if (!failed)
        failed = pleat_session_agree(session, code, &agreed, err);
    if (!failed && !agreed)
        failed = commit(session, &agreed, err);
    if (session->saved)
        pleat_state_abandon(session->saved);
    if (failed)
        return failed;
    if (agreed && !code)
        pleat_error_set(err, agreed, "another rank could not save its part of the state (%s)",
                        pleat_error_name(agreed));
    return agreed ? PLEAT_SAVE_NOT : 0;
}

/* Frees the data file's memory of the tail: nothing there has to be kept. */
static void free_tail(const struct pleat_session *session)
{
    uint64_t offset = PLEAT_STATE_OFFSET + pleat_session_tail_at(session);
    if (pleat_session_has_tail(session))
        (void)fallocate(pleat_state_data(session->saved),
                        FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                        (off_t)(PLEAT_STATE_WINDOW_FIRST - offset));
}

/* On several nodes rank 0's file is the first that stops being the state. Before that the files of
 * all nodes are the state; after it those of the other nodes belong to none. *code: this rank's
 * error, or another one's. */
static int go_on_on_nodes(struct pleat_session *session, int *code, struct pleat_error *err)
{
    int failed = 0;
    for (int turn = 0; turn < 2 && !failed && !*code; turn++) {
        int mine = 0;
        if (turn == 0 ? session->rank == 0 : session->rank != 0 && pleat_session_leads(session))
            mine = pleat_state_go_on(session->saved, err);
        failed = pleat_session_agree(session, mine, code, err);
        if (!failed && *code && !mine)
            pleat_error_set(err, *code, "the first rank of a node could not go on (%s)",
                            pleat_error_name(*code));
    }
    return failed;
}

int pleat_save_end(struct pleat_session *session, struct pleat_error *err)
{
    struct pleat_error why = {0};
    int code = 0;
    int failed = 0;
    if (session->nodes) {
        failed = go_on_on_nodes(session, &code, &why);
    } else {
        if (session->rank == 0)
            code = pleat_state_go_on(session->saved, &why);
        /* No rank gets this before rank 0 has done it. */
        failed = pleat_session_tell(session, &code, sizeof(code), "going on", &why);
    }
    if (!failed && !code && pleat_session_leads(session))
        free_tail(session);
    if (failed) {
        if (err)
            *err = why;
        return failed;
    }
    return code ? pleat_error_set(err, code, "the first rank could not go on from the state: %s",
                                  why.text[0] ? why.text : pleat_error_name(code))
                : 0;
}

/* ---- loading ---- */

static int check_state(const struct pleat_session *session, struct pleat_error *err)
{
    int code = pleat_state_check_owner(&session->held, &session->own, err);
    if (code)
        return code;
    if (session->held.shape != pleat_session_shape(session) ||
        (pleat_session_has_tail(session) ? session->held.bytes < pleat_session_tail_at(session)
                                         : session->held.bytes != pleat_session_bytes(session)))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "the program was started again with other data registered "
                               "than those of its state (names, sizes and order must agree)");
    return 0;
}

/* Once all ranks have loaded an object, the state has it where it is now, and the memory where it
 * was is freed. *code: this rank's error before; after it, if it was 0, any rank's. */
static int settle(struct pleat_session *session, struct pleat_object *object, int *code,
                  struct pleat_error *err)
{
    int settled = 0;
    int agreed = 0;
    int failed = pleat_session_agree(session, *code, &agreed, err);
    if (!failed && !agreed && pleat_session_leads(session))
        settled = object->ops->settle(object, err);
    if (!failed && !agreed && session->nodes) {
        int least = 0;
        failed = pleat_session_agree(session, settled, &least, err);
        settled = least;
    } else if (!failed && !agreed) {
        failed = pleat_session_tell(session, &settled, sizeof(settled), "loading", err);
    }
    if (failed)
        return failed;
    if (!agreed && !settled)
        object->ops->tidy(object);
    else if (!*code && (agreed || session->rank != 0))
        pleat_error_set(err, agreed ? agreed : settled, "another rank could not load '%s'",
                        object->name);
    *code = *code ? *code : agreed ? agreed : settled;
    return 0;
}

/* Returns when all ranks have freed the memory in which objects were. A rank alone may have none to
 * free, and would take memory for the next object before others have freed theirs: then the data
 * file would take more than that of one object besides. Collective. */
static int await_freeing(struct pleat_session *session, struct pleat_error *err)
{
    int agreed = 0;
    pleat_freeing_end(&session->freeing);
    return pleat_session_agree(session, 0, &agreed, err);
}

/* Also after an error of this rank, where it is collective: where nodes are several, or objects are
 * in the data file. Then *code is agreed on. */
static int load_tail(struct pleat_session *session, int *code, struct pleat_error *err)
{
    struct pleat_tail tail = {.state = session->saved,
                              .offset = pleat_session_tail_at(session),
                              .end = session->held.bytes,
                              .rank = session->rank,
                              .size = session->size};
    const bool in_file = session->in_data && !session->nodes;
    bool first = true;
    int failed = 0;
    for (struct pleat_object *object = session->objects; object && !failed; object = object->next) {
        uint64_t bytes = 0;
        if (!object->tail)
            continue;
        if (in_file && !first)
            failed = await_freeing(session, err);
        first = false;
        if (session->nodes)
            failed = pleat_nodes_bring_tail(session, object, &tail, code, err);
        if (!failed && !*code)
            *code = object->tail->load(object, &tail, &bytes, err);
        if (!failed && in_file)
            failed = settle(session, object, code, err);
        tail.offset += bytes;
    }
    return failed;
}

/* Gives each part of a tail to the rank that is to have it. Collective; *code: the outcome on this
 * rank. */
static int arrange(struct pleat_session *session, struct pleat_object *object, int *code,
                   struct pleat_error *err)
{
    const bool in_data = session->in_data && !session->nodes;
    const struct pleat_change change = {.comm = session->comm,
                                        .rank = session->rank,
                                        .old_size = session->size,
                                        .new_size = session->size,
                                        .in_data = in_data,
                                        .data = in_data ? pleat_state_data(session->saved) : -1};
    int agreed = 0;
    *code = object->tail->measure(object, &change, err);
    if (!*code)
        *code = object->ops->prepare(object, &change, err);
    int failed = pleat_session_agree(session, *code, &agreed, err);
    if (!failed && agreed) {
        if (!*code)
            object->ops->cancel(object);
        *code = *code ? *code
                      : pleat_error_set(err, agreed, "another rank could not take its part of '%s'",
                                        object->name);
        return 0;
    }
    if (!failed)
        failed = object->ops->exchange(object, &change, err);
    return failed ? failed : object->ops->commit(object, &change, err);
}

int pleat_load_arrange(struct pleat_session *session, int *code, struct pleat_error *err)
{
    int failed = 0;
    for (struct pleat_object *object = session->objects; object && !failed && !*code;
         object = object->next)
        if (object->tail && object->tail->arranges(object))
            failed = arrange(session, object, code, err);
    if (!failed && !*code)
        *code = pleat_sums_compare(session, session->comm, true, err);
    return failed;
}

static int load_values(struct pleat_session *session, struct pleat_error *err)
{
    int code = 0;
    uint64_t offset = pleat_session_values_at(session);
    for (size_t i = 0; !code && i < session->values.count; i++) {
        const struct pleat_value *value = &session->values.items[i];
        code = pleat_state_read(session->saved, offset, value->ptr, value->bytes, err);
        offset += value->bytes;
    }
    return code;
}

/* Loads one object after the other, so that memory is needed twice for one only. *code: this rank's
 * error. */
static int load_objects(struct pleat_session *session, int *code, struct pleat_error *err)
{
    const int data = session->in_data ? pleat_state_data(session->saved) : -1;
    int failed = 0;
    bool is_first = true;
    for (struct pleat_object *object = session->objects; object && !failed; object = object->next) {
        const bool is_copied = object->ops->settle && data >= 0 && !session->nodes && !object->tail;
        if (is_copied && !is_first)
            failed = await_freeing(session, err);
        is_first = is_first && !is_copied;
        if (!failed && !*code)
            *code = object->ops->load(object, session->saved, data, err);
        if (!failed && session->nodes && object->ops->gather)
            failed = object->ops->gather(object, code, err);
        if (!failed && is_copied)
            failed = settle(session, object, code, err);
    }
    return failed;
}

/* *agreed: the outcome over all ranks. Rank 0 tells the agent of a failure before any rank knows of
 * it, since the first rank that knows may end the program. */
static int agree_on_load(struct pleat_session *session, int code, int *agreed,
                         struct pleat_error *err)
{
    int failed = pleat_session_agree(session, code, agreed, err);
    if (failed || !*agreed)
        return failed;
    if (!code)
        pleat_error_set(err, *agreed, "another rank could not load the state (%s)",
                        pleat_error_name(*agreed));
    if (pleat_session_leads(session))
        pleat_mailbox_cannot_begin(&session->self, err->text);
    return pleat_mpi_check(MPI_Barrier(session->comm), "beginning", err);
}

/* The data file is no state any more, so what was kept for it is freed. Until then the state is
 * where the tables of the nodes say, even where data have moved already. */
static void end_bringing(struct pleat_session *session)
{
    if (!session->nodes)
        return;
    for (struct pleat_object *object = session->objects; object && session->in_data;
         object = object->next) {
        /* if this fails the next save says it again */
        if (object->ops->settle && pleat_session_leads(session))
            (void)!object->ops->settle(object, NULL);
        if (object->ops->tidy)
            object->ops->tidy(object);
    }
    if (session->in_data && pleat_session_leads(session) && pleat_state_is_data(session->saved))
        pleat_nodes_free(session);
    pleat_array_finish(&session->nodes->held);
    pleat_array_finish(&session->nodes->needed);
    if (session->nodes->count == 1)
        pleat_nodes_drop(session);
}

int pleat_load_all(struct pleat_session *session, struct pleat_error *err)
{
    int64_t start = pleat_clock_monotonic_ns();
    MPI_Errhandler handler;
    int agreed = 0;
    int code = check_state(session, err);
    int failed = pleat_mpi_quiet_begin(session->comm, &handler, err);
    if (!failed && session->nodes)
        failed = pleat_nodes_bring_all(session, &code, err);
    if (!failed && !code)
        code = load_values(session, err);
    if (!failed)
        failed = load_objects(session, &code, err);
    if (!failed && (!code || session->nodes || session->in_data))
        failed = load_tail(session, &code, err);
    if (!failed)
        failed = agree_on_load(session, code, &agreed, err);
    if (!failed && !agreed)
        failed = pleat_load_arrange(session, &code, err);
    if (!failed && !agreed && code)
        failed = agree_on_load(session, code, &agreed, err);
    if (!failed && !agreed && session->in_data)
        failed = pleat_save_end(session, err);
    if (!failed && !agreed)
        end_bringing(session);
    pleat_mpi_quiet_end(session->comm, &handler);
    if (!failed && !agreed)
        failed = pleat_actions_resumed(session, err);
    if (failed || agreed)
        return failed ? failed : agreed;
    uint64_t took = (uint64_t)(pleat_clock_monotonic_ns() - start);
    const struct pleat_mailbox_cost cost = {
        .load_ns = took, .total_ns = took, .bytes = session->held.bytes};
    if (pleat_session_leads(session))
        pleat_mailbox_begun(&session->self, &cost);
    return 0;
}

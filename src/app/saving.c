/* Saves and loads what is registered (shm/state.h): each object on a page of its own, then the
 * values, then the tail: objects whose size changes. Every rank writes its part at its place in the
 * whole, and reads its part from there. It becomes the state when all ranks agree.
 *
 * Where the objects are in the data file, that is the state: only what is not in it yet is written.
 */
#include <fcntl.h>
#include <string.h>

#include "app/session.h"
#include "base/clock.h"

#define PAGE 4096u

static uint64_t page_up(uint64_t offset)
{
    return (offset + PAGE - 1) / PAGE * PAGE;
}

uint64_t pleat_session_room(const struct pleat_session *session)
{
    return page_up(session->objects_bytes);
}

int pleat_session_window(struct pleat_session *session, uint64_t *window, struct pleat_error *err)
{
    if (session->windows == PLEAT_STATE_WINDOWS)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "there are %d arrays already",
                               PLEAT_STATE_WINDOWS);
    *window = PLEAT_STATE_WINDOW_FIRST + session->windows * PLEAT_STATE_WINDOW;
    session->windows++;
    return 0;
}

/* Where the tail begins. */
static uint64_t body_bytes(const struct pleat_session *session)
{
    return page_up(page_up(session->objects_bytes) + session->values_bytes);
}

static bool has_tail(const struct pleat_session *session)
{
    bool has = false;
    for (const struct pleat_object *object = session->objects; object; object = object->next)
        has |= object->tail != NULL;
    return has;
}

uint64_t pleat_session_bytes(const struct pleat_session *session)
{
    if (!has_tail(session))
        return page_up(session->objects_bytes) + session->values_bytes;
    uint64_t bytes = body_bytes(session);
    for (const struct pleat_object *object = session->objects; object; object = object->next)
        bytes += object->tail ? object->tail->bytes(object) : 0;
    return bytes;
}

/* ---- saving ---- */

int pleat_save_measure(struct pleat_session *session, struct pleat_error *err)
{
    int code = 0;
    for (struct pleat_object *object = session->objects; object && !code; object = object->next)
        if (object->tail)
            code = object->tail->place(object, session->comm, session->rank, err);
    return code;
}

void pleat_save_begin(struct pleat_session *session, bool copy, struct pleat_save_order *order,
                      struct pleat_error *err)
{
    *order =
        (struct pleat_save_order){.code = PLEAT_SAVE_NOT, .in_data = session->in_data && !copy};
    if (!session->saved)
        return;
    struct pleat_state_header wanted = session->own;
    wanted.shape = pleat_session_shape(session);
    wanted.iteration = session->self.iteration;
    wanted.bytes = pleat_session_bytes(session);
    order->code =
        pleat_state_begin(session->saved, &wanted, order->in_data, &order->generation, err);
}

/* Values are the same on all ranks, so rank 0 saves its own. */
static int save_values(struct pleat_session *session, struct pleat_error *err)
{
    uint64_t offset = page_up(session->objects_bytes);
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
    uint64_t offset = body_bytes(session);
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
    if (session->rank == 0)
        code = save_values(session, err);
    else
        code = pleat_state_join(session->saved, order->generation, err);
    for (struct pleat_object *object = session->objects; object && !code; object = object->next)
        code = object->ops->save(object, session->saved, err);
    return code ? code : save_tail(session, err);
}

/* Rank 0 makes what was written the state. *code: the outcome, on all ranks. */
static int commit(struct pleat_session *session, int *code, struct pleat_error *err)
{
    if (session->rank == 0)
        *code = pleat_state_commit(session->saved, err);
    return pleat_session_tell(session, code, sizeof(*code), "saving the state", err);
}

int pleat_save_all(struct pleat_session *session, const struct pleat_save_order *order,
                   struct pleat_error *err)
{
    int agreed = 0;
    int code = order->code;
    if (!code)
        code = save_part(session, order, err);
    else if (code < 0 && session->rank != 0)
        pleat_error_set(err, code, "rank 0 could not save the state");
    /* Agrees also if nothing is saved: rank 0 may end the request only when every rank has seen it.
     */
    code = code > 0 ? PLEAT_E_UNSUPPORTED : code;
    int failed = pleat_session_agree(session, code, &agreed, err);
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

/* Frees the data file's memory of the tail, which is no copy of anything that is kept. */
static void free_tail(const struct pleat_session *session)
{
    uint64_t offset = PLEAT_STATE_OFFSET + body_bytes(session);
    if (has_tail(session))
        (void)fallocate(pleat_state_data(session->saved),
                        FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                        (off_t)(PLEAT_STATE_WINDOW_FIRST - offset));
}

int pleat_save_end(struct pleat_session *session, struct pleat_error *err)
{
    struct pleat_error why = {0};
    int code = 0;
    if (session->rank == 0)
        code = pleat_state_go_on(session->saved, &why);
    if (session->rank == 0 && !code)
        free_tail(session);
    /* Nobody gets this before rank 0 has done it. */
    int failed = pleat_session_tell(session, &code, sizeof(code), "going on", err);
    if (failed || !code)
        return failed;
    return pleat_error_set(err, code, "rank 0 could not go on from the state: %s",
                           session->rank == 0 ? why.text : pleat_error_name(code));
}

/* ---- loading ---- */

static int check_state(const struct pleat_session *session, struct pleat_error *err)
{
    int code = pleat_state_check_owner(&session->held, &session->own, err);
    if (code)
        return code;
    if (session->held.shape != pleat_session_shape(session) ||
        (has_tail(session) ? session->held.bytes < body_bytes(session)
                           : session->held.bytes != pleat_session_bytes(session)))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "the program was started again with other data registered "
                               "than those of its state (names, sizes and order must agree)");
    return 0;
}

static int load_tail(struct pleat_session *session, struct pleat_error *err)
{
    struct pleat_tail tail = {.state = session->saved,
                              .offset = body_bytes(session),
                              .end = session->held.bytes,
                              .rank = session->rank,
                              .size = session->size};
    int code = 0;
    for (struct pleat_object *object = session->objects; object && !code; object = object->next) {
        uint64_t bytes = 0;
        if (!object->tail)
            continue;
        code = object->tail->load(object, &tail, &bytes, err);
        tail.offset += bytes;
    }
    return code;
}

/* Gives each part of a tail to the rank that is to have it. Collective; *code: the outcome on this
 * rank. */
static int arrange(struct pleat_session *session, struct pleat_object *object, int *code,
                   struct pleat_error *err)
{
    const struct pleat_change change = {.comm = session->comm,
                                        .rank = session->rank,
                                        .old_size = session->size,
                                        .new_size = session->size,
                                        .data = -1};
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
    int code = check_state(session, err);
    uint64_t offset = page_up(session->objects_bytes);
    for (size_t i = 0; !code && i < session->values.count; i++) {
        const struct pleat_value *value = &session->values.items[i];
        code = pleat_state_read(session->saved, offset, value->ptr, value->bytes, err);
        offset += value->bytes;
    }
    return code;
}

/* Once all ranks have loaded an object it counts in the state where it is now, and the memory where
 * it was is free. *code: this rank's error before; after it, if it was 0, any rank's. */
static int settle(struct pleat_session *session, struct pleat_object *object, int *code,
                  struct pleat_error *err)
{
    int settled = 0;
    int agreed = 0;
    int failed = pleat_session_agree(session, *code, &agreed, err);
    if (!failed && !agreed && session->rank == 0)
        settled = object->ops->settle(object, err);
    if (!failed && !agreed)
        failed = pleat_session_tell(session, &settled, sizeof(settled), "loading", err);
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

/* Loads one object after the other, so that memory is needed twice for one only. *code: this rank's
 * error. */
static int load_objects(struct pleat_session *session, int *code, struct pleat_error *err)
{
    const int data = session->in_data ? pleat_state_data(session->saved) : -1;
    int failed = 0;
    for (struct pleat_object *object = session->objects; object && !failed; object = object->next) {
        if (!*code)
            *code = object->ops->load(object, session->saved, data, err);
        if (object->ops->settle && data >= 0)
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
    if (session->rank == 0)
        pleat_mailbox_cannot_begin(&session->self, err->text);
    return pleat_mpi_check(MPI_Barrier(session->comm), "beginning", err);
}

int pleat_load_all(struct pleat_session *session, struct pleat_error *err)
{
    int64_t start = pleat_clock_monotonic_ns();
    MPI_Errhandler handler;
    int agreed = 0;
    int code = load_values(session, err);
    int failed = pleat_mpi_quiet_begin(session->comm, &handler, err);
    if (!failed)
        failed = load_objects(session, &code, err);
    if (!failed && !code)
        code = load_tail(session, err);
    if (!failed)
        failed = agree_on_load(session, code, &agreed, err);
    if (!failed && !agreed)
        failed = pleat_load_arrange(session, &code, err);
    if (!failed && !agreed && code)
        failed = agree_on_load(session, code, &agreed, err);
    if (!failed && !agreed && session->in_data)
        failed = pleat_save_end(session, err);
    pleat_mpi_quiet_end(session->comm, &handler);
    if (!failed && !agreed)
        failed = pleat_actions_resumed(session, err);
    if (failed || agreed)
        return failed ? failed : agreed;
    uint64_t took = (uint64_t)(pleat_clock_monotonic_ns() - start);
    const struct pleat_mailbox_cost cost = {
        .load_ns = took, .total_ns = took, .bytes = session->held.bytes};
    if (session->rank == 0)
        pleat_mailbox_begun(&session->self, &cost);
    return 0;
}

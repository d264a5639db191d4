/* Loading a state on several nodes: what is where, and what has to be brought. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "app/nodes.h"

/* ---- what is where ---- */

/* The table of this node's file, or all of it where the state was saved on one node. */
static int read_table(struct pleat_session *session, const struct pleat_state_header *mine,
                      struct pleat_stretches *list, struct pleat_error *err)
{
    struct pleat_state_part *parts = NULL;
    if (mine->nodes <= 1)
        return pleat_stretches_add(list, 0, UINT64_MAX);
    int code = pleat_state_get_parts(session->saved, mine, &parts, err);
    for (size_t i = 0; i < mine->parts && !code; i++)
        code = pleat_stretches_add(list, parts[i].first, parts[i].end);
    free(parts);
    return code;
}

int pleat_nodes_seek(struct pleat_session *session, uint64_t generation, bool *in_data, int *code,
                     struct pleat_error *err)
{
    struct {
        struct pleat_state_header held;
        bool in_data;
    } told;
    memset(&told, 0, sizeof(told));
    const bool has = !*code && session->saved && pleat_session_leads(session) &&
                     !pleat_state_find_generation(session->saved, generation, &told.held, NULL);
    told.in_data = has && pleat_state_is_data(session->saved);
    const uint64_t mine = told.held.save;
    const int rank = has ? session->rank : INT_MAX;
    int first = INT_MAX;
    int failed = pleat_mpi_check(MPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, session->comm),
                                 "looking for a state", err);
    if (!failed && first != INT_MAX)
        failed =
            pleat_mpi_check(MPI_Bcast(&told, (int)sizeof(told), MPI_BYTE, first, session->comm),
                            "looking for a state", err);
    if (failed || *code)
        return failed;
    if (first == INT_MAX)
        *code = pleat_error_set(err, PLEAT_E_CORRUPT,
                                "the state to go on from, number %" PRIu64 ", is on no node that "
                                "this program has ranks on",
                                generation);
    else if (has && mine != told.held.save)
        *code = pleat_error_set(
            err, PLEAT_E_CORRUPT,
            "the nodes of this program have different states of number %" PRIu64, generation);
    session->held = told.held;
    *in_data = told.in_data;
    return 0;
}

static int choose(struct pleat_session *session, bool in_data, struct pleat_stretches *list,
                  struct pleat_error *err)
{
    struct pleat_state_header mine = {0};
    const bool first = pleat_session_leads(session);
    if (!session->saved)
        return pleat_error_set(err, PLEAT_E_CORRUPT,
                               "this rank has no memory for a state: " PLEAT_STATE_ENV
                               " is not set");
    int code = pleat_state_find_same(session->saved, &session->held, &mine, err);
    if (!code)
        return first ? read_table(session, &mine, list, err) : 0;
    return code == PLEAT_E_NOTFOUND
               ? pleat_state_choose(session->saved, &session->held, in_data, first, err)
               : code;
}

int pleat_nodes_find_state(struct pleat_session *session, bool in_data, int *code,
                           struct pleat_error *err)
{
    struct pleat_stretches mine = {0};
    if (!*code)
        *code = choose(session, in_data, &mine, err);
    int failed = pleat_nodes_gather(session, &mine, code, &session->nodes->held, err);
    struct pleat_stretches *held = &session->nodes->held;
    held->count = pleat_spread_tidy(held->items, held->count);
    pleat_array_finish(&mine);
    return failed;
}

int pleat_nodes_with(const struct pleat_session *session, uint64_t offset)
{
    const struct pleat_nodes *nodes = session->nodes;
    struct pleat_stretch piece;
    uint64_t at = offset;
    return pleat_spread_next(nodes->held.items, nodes->held.count, nodes->node, &at, offset + 1,
                             &piece)
               ? piece.node
               : nodes->node;
}

bool pleat_nodes_has(const struct pleat_session *session, int node, uint64_t offset)
{
    const struct pleat_stretches *held = &session->nodes->held;
    struct pleat_stretch piece;
    uint64_t at = offset;
    return !pleat_spread_next(held->items, held->count, node, &at, offset + 1, &piece);
}

/* ---- what has to be brought ---- */

static int lost(const struct pleat_stretch *piece, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_CORRUPT,
                           "%" PRIu64 " bytes of the state, at %" PRIu64 ", are on no node that "
                           "this program has ranks on",
                           piece->end - piece->first, piece->first);
}

/* All ranks go through all needs, and so have the same outcome. *list: what this rank sends or
 * receives. */
static int plan(struct pleat_session *session, const struct pleat_stretches *needs,
                struct pleat_carrying *list, int *nobody, struct pleat_error *err)
{
    const struct pleat_nodes *nodes = session->nodes;
    size_t number = 0;
    int code = 0;
    for (size_t i = 0; i < needs->count; i++) {
        const struct pleat_stretch *need = &needs->items[i];
        struct pleat_stretch piece;
        uint64_t at = need->first;
        while (pleat_spread_next(nodes->held.items, nodes->held.count, need->node, &at, need->end,
                                 &piece)) {
            const struct pleat_parcel_of_state parcel = {
                piece.first, piece.end,
                pleat_spread_rank(nodes->of, session->size, piece.node, number++), need->rank};
            if (parcel.from == PLEAT_SPREAD_NOBODY)
                *nobody = lost(&piece, *nobody ? NULL : err);
            if (!code && (parcel.from == session->rank || parcel.to == session->rank) &&
                pleat_array_push(list, parcel))
                code = pleat_error_set(err, PLEAT_E_NOMEM, "no memory to bring data from a node");
        }
    }
    return code;
}

int pleat_nodes_bring(struct pleat_session *session, const struct pleat_stretches *needs,
                      struct pleat_stretches *all, int *code, struct pleat_error *err)
{
    struct pleat_stretches own = {0};
    struct pleat_stretches *every = all ? all : &own;
    struct pleat_carrying list = {0};
    int failed = pleat_nodes_gather(session, needs, code, every, err);
    if (!failed && !*code) {
        int nobody = 0;
        *code = plan(session, every, &list, &nobody, err);
        *code = nobody ? nobody : *code;
        failed = pleat_nodes_carry(session, &list, code, err);
    }
    pleat_array_finish(&list);
    pleat_array_finish(&own);
    return failed;
}

static int list_needs(struct pleat_session *session, struct pleat_stretches *list,
                      struct pleat_error *err)
{
    const uint64_t values = pleat_session_values_at(session);
    const bool in_data = pleat_state_is_data(session->saved);
    int code = 0;
    if (pleat_session_leads(session))
        code = pleat_stretches_add(list, values, values + session->values_bytes);
    for (struct pleat_object *object = session->objects; object && !code; object = object->next)
        if (object->ops->parts)
            code = object->ops->parts(object, in_data, true, list, err);
    return code == PLEAT_E_NOMEM
               ? pleat_error_set(err, code, "no memory to load from several nodes")
               : code;
}

int pleat_nodes_bring_all(struct pleat_session *session, int *code, struct pleat_error *err)
{
    struct pleat_stretches needs = {0};
    if (!*code)
        *code = list_needs(session, &needs, err);
    int failed = pleat_nodes_bring(session, &needs, &session->nodes->needed, code, err);
    pleat_array_finish(&needs);
    return failed;
}

int pleat_nodes_bring_tail(struct pleat_session *session, struct pleat_object *object,
                           const struct pleat_tail *tail, int *code, struct pleat_error *err)
{
    struct pleat_stretches needs = {0};
    int failed = 0;
    for (int step = 0; step < PLEAT_TAIL_STEPS && !failed; step++) {
        needs.count = 0;
        if (!*code)
            *code =
                object->tail->needs(object, tail, step, pleat_session_leads(session), &needs, err);
        failed = pleat_nodes_bring(session, &needs, NULL, code, err);
    }
    pleat_array_finish(&needs);
    return failed;
}

void pleat_nodes_free(const struct pleat_session *session)
{
    const struct pleat_nodes *nodes = session->nodes;
    const uint64_t end = pleat_session_values_at(session);
    struct pleat_stretch piece;
    for (uint64_t at = 0; pleat_spread_next(nodes->needed.items, nodes->needed.count, nodes->node,
                                            &at, end, &piece);)
        pleat_state_free_part(session->saved, piece.first, piece.end);
}

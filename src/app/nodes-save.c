/* Saving a state on several nodes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/nodes.h"
#include "base/clock.h"

int pleat_nodes_measure(struct pleat_session *session, struct pleat_error *err)
{
    uint64_t latest = session->saved ? pleat_state_latest(session->saved) : 0;
    return pleat_mpi_check(
        MPI_Allreduce(&latest, &session->nodes->latest, 1, MPI_UINT64_T, MPI_MAX, session->comm),
        "saving the state", err);
}

int pleat_nodes_begin(struct pleat_session *session, const struct pleat_save_order *order,
                      int *code, struct pleat_error *err)
{
    uint64_t generation = order->generation;
    if (!*code && !session->saved)
        *code = pleat_error_set(err, PLEAT_E_STATE, "this rank has nowhere to save its state to");
    if (!*code && session->nodes->first && session->rank != 0) {
        struct pleat_state_header wanted = session->own;
        wanted.generation = order->generation;
        wanted.shape = pleat_session_shape(session);
        wanted.iteration = session->self.iteration;
        wanted.bytes = pleat_session_bytes(session);
        wanted.nodes = (uint64_t)session->nodes->count;
        wanted.save = order->save;
        *code = pleat_state_begin(session->saved, &wanted, order->in_data, &generation, err);
    }
    if (!*code && generation != order->generation)
        *code = pleat_error_set(err, PLEAT_E_CORRUPT,
                                "the memory for the state was overwritten while it was saved");
    int agreed = 0;
    int failed = pleat_mpi_agree(session->comm, *code, &agreed, err);
    if (!failed && agreed && !*code)
        *code = pleat_error_set(err, agreed, "another rank could not begin to save (%s)",
                                pleat_error_name(agreed));
    return failed;
}

/* ---- what is sent away ---- */

/* stays[i]: whether node i has processes in the next program, as all of its ranks read. */
static int ask_who_stays(struct pleat_session *session, bool leaves, bool *stays,
                         struct pleat_error *err)
{
    struct pleat_nodes *nodes = session->nodes;
    struct pleat_mailbox_request request = {.stays = true};
    int *all = calloc((size_t)session->size, sizeof(int));
    if (leaves && pleat_mailbox_request(&session->self, &request))
        request.stays = true; /* a damaged request is refused elsewhere */
    int mine = all ? request.stays : -1;
    int least = 0;
    int failed = pleat_mpi_check(MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, session->comm),
                                 "saving the state", err);
    if (!failed && least < 0)
        failed = pleat_error_set(err, PLEAT_E_NOMEM, "no memory to save on several nodes");
    else if (!failed)
        failed = pleat_mpi_check(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, session->comm),
                                 "saving the state", err);
    for (int rank = 0; rank < session->size && !failed; rank++)
        stays[nodes->of[rank]] = all[rank] != 0;
    free(all);
    return failed;
}

/* Plans which other nodes get the parts of nodes that are left. *list: what this rank sends or
 * receives for that. */
static int plan_leaving(struct pleat_session *session, const int *home, struct pleat_stretches *all,
                        struct pleat_carrying *list, struct pleat_error *err)
{
    const struct pleat_nodes *nodes = session->nodes;
    for (size_t i = 0; i < all->count; i++) {
        struct pleat_stretch *one = &all->items[i];
        if (home[one->rank] == one->node)
            continue;
        one->node = home[one->rank];
        const struct pleat_parcel_of_state parcel = {
            one->first, one->end, one->rank,
            pleat_spread_rank(nodes->of, session->size, one->node, i)};
        if ((parcel.from == session->rank || parcel.to == session->rank) &&
            pleat_array_push(list, parcel))
            return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to leave a node");
    }
    return 0;
}

static int send_away(struct pleat_session *session, bool leaves, struct pleat_stretches *all,
                     int *code, struct pleat_error *err)
{
    struct pleat_nodes *nodes = session->nodes;
    struct pleat_carrying list = {0};
    bool *stays = calloc((size_t)nodes->count, sizeof(*stays));
    int *home = calloc((size_t)session->size, sizeof(*home));
    int agreed = 0;
    int mine = stays && home ? 0 : PLEAT_E_NOMEM;
    int failed = pleat_mpi_agree(session->comm, mine, &agreed, err);
    if (!failed && agreed)
        *code = pleat_error_set(err, agreed, "no memory to save on several nodes");
    if (!failed && !*code)
        failed = ask_who_stays(session, leaves, stays, err);
    if (!failed && !*code) {
        nodes->stays = stays[nodes->node];
        if (!pleat_spread_homes(nodes->of, session->size, stays, nodes->count, home))
            *code = pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                                    "all nodes are left at once: there is nowhere to bring the "
                                    "data to");
        else
            *code = plan_leaving(session, home, all, &list, err);
        failed = pleat_nodes_carry(session, &list, code, err);
    }
    pleat_array_finish(&list);
    free(stays);
    free(home);
    return failed;
}

/* ---- the table ---- */

static int write_table(struct pleat_session *session, struct pleat_stretches *all,
                       struct pleat_error *err)
{
    const int node = session->nodes->node;
    const size_t count = pleat_spread_tidy(all->items, all->count);
    struct pleat_state_part *parts = calloc(count ? count : 1, sizeof(*parts));
    size_t used = 0;
    if (!parts)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to save on several nodes");
    for (size_t i = 0; i < count; i++)
        if (all->items[i].node == node)
            parts[used++] = (struct pleat_state_part){all->items[i].first, all->items[i].end};
    int code = pleat_state_set_parts(session->saved, parts, used, err);
    free(parts);
    return code;
}

int pleat_nodes_list(struct pleat_session *session, bool in_data, struct pleat_stretches *list,
                     struct pleat_error *err)
{
    const uint64_t values = pleat_session_values_at(session);
    uint64_t tail = pleat_session_tail_at(session);
    int code = 0;
    if (session->rank == 0)
        code = pleat_stretches_add(list, values, values + session->values_bytes);
    for (struct pleat_object *object = session->objects; object && !code; object = object->next) {
        if (object->ops->parts)
            code = object->ops->parts(object, in_data, false, list, err);
        if (code || !object->tail)
            continue;
        code = object->tail->parts(object, session->rank, tail, list, err);
        tail += object->tail->bytes(object);
    }
    return code == PLEAT_E_NOMEM ? pleat_error_set(err, code, "no memory to save on several nodes")
                                 : code;
}

int pleat_nodes_save(struct pleat_session *session, const struct pleat_save_order *order,
                     const struct pleat_stretches *mine, int *code, struct pleat_error *err)
{
    struct pleat_stretches all = {0};
    int failed = pleat_nodes_gather(session, mine, code, &all, err);
    if (!failed && !*code)
        failed = send_away(session, order->leaves, &all, code, err);
    if (!failed && !*code && pleat_session_leads(session) && session->nodes->stays)
        *code = write_table(session, &all, err);
    pleat_array_finish(&all);
    return failed;
}

/* ---- together ---- */

/* Rank 0's file is committed last, unless its node is left. A state that is on other nodes only
 * does not count: no rank finds it. */
int pleat_nodes_commit(struct pleat_session *session, int *code, struct pleat_error *err)
{
    const bool marks = pleat_session_leads(session) && session->nodes->stays;
    int agreed = 0;
    int mine = marks && session->rank != 0 ? pleat_state_mark(session->saved, err) : 0;
    int failed = pleat_mpi_agree(session->comm, mine, &agreed, err);
    if (!failed && !agreed) {
        mine = marks && session->rank == 0 ? pleat_state_mark(session->saved, err) : 0;
        failed = pleat_mpi_agree(session->comm, mine, &agreed, err);
    }
    if (failed)
        return failed;
    if (agreed && !mine)
        pleat_error_set(err, agreed, "another node could not keep its part of the state (%s)",
                        pleat_error_name(agreed));
    if (marks)
        pleat_state_settle(session->saved, agreed != 0);
    *code = agreed;
    return 0;
}

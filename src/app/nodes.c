/* Which rank is on which node, and who speaks with the agent there. */
#include "app/nodes.h"

#include <stdlib.h>

bool pleat_session_leads(const struct pleat_session *session)
{
    return session->rank == 0 || (session->nodes && session->nodes->first);
}

void pleat_nodes_drop(struct pleat_session *session)
{
    struct pleat_nodes *nodes = session->nodes;
    if (!nodes)
        return;
    pleat_array_finish(&nodes->held);
    pleat_array_finish(&nodes->needed);
    free(nodes->of);
    free(nodes);
    session->nodes = NULL;
}

/* Checks what all ranks have said: nodes below rank 0's `count`. */
static int check(struct pleat_session *session, const int (*said)[2], int count,
                 struct pleat_error *err)
{
    struct pleat_nodes *nodes = session->nodes;
    nodes->first = true;
    for (int rank = 0; rank < session->size; rank++) {
        if (said[rank][1] != count || said[rank][0] < 0 || said[rank][0] >= count ||
            (rank == 0 && said[rank][0] != 0))
            return pleat_error_set(err, PLEAT_E_CORRUPT,
                                   "rank %d says that it is on node %d of %d, and rank 0 that it "
                                   "is on node %d of %d",
                                   rank, said[rank][0], said[rank][1], said[0][0], said[0][1]);
        nodes->of[rank] = said[rank][0];
        nodes->first &= rank >= session->rank || said[rank][0] != nodes->node;
    }
    return 0;
}

int pleat_nodes_find(struct pleat_session *session, int count, int *code, struct pleat_error *err)
{
    uint32_t node = 0;
    uint32_t there = 1;
    struct pleat_nodes *nodes = calloc(1, sizeof(*nodes));
    int(*said)[2] = calloc((size_t)session->size, sizeof(*said));
    if (session->mailbox)
        pleat_mailbox_node(session->mailbox, &node, &there);
    const int mine[2] = {(int)node, (int)there};
    if (nodes) {
        *nodes = (struct pleat_nodes){.node = mine[0],
                                      .count = count,
                                      .ranks = session->size,
                                      .of = calloc((size_t)session->size, sizeof(int)),
                                      .stays = true};
        session->nodes = nodes;
    }
    if (!said || !nodes || !nodes->of) /* the other ranks wait for this one */
        *code = pleat_error_set(err, PLEAT_E_NOMEM, "no memory to know where ranks are");
    int agreed = 0;
    int failed = pleat_mpi_agree(session->comm, *code == PLEAT_E_NOMEM ? *code : 0, &agreed, err);
    if (!failed && agreed) {
        *code = *code ? *code
                      : pleat_error_set(err, agreed, "another rank has not enough memory to begin");
        pleat_nodes_drop(session);
    } else if (!failed) {
        failed = pleat_mpi_check(MPI_Allgather(mine, 2, MPI_INT, said, 2, MPI_INT, session->comm),
                                 "finding nodes", err);
        if (!failed && !*code)
            *code = check(session, said, count, err);
        else if (!failed)
            (void)check(session, said, count, NULL);
    }
    free(said);
    return failed;
}

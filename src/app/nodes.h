/* nodes.h - a session whose ranks are on several nodes (shm/mailbox.h). Each node has a mailbox and
 * memory for the state of its own. What is written once on one node, into the file of the state, is
 * written by the first rank of each node into that node's file.
 *
 * A state is saved as on one node: every rank writes what it has at its place in the whole, but in
 * the file of its node, of which a table says which parts it holds (shm/state.h). Parts on nodes
 * that are left are sent before to ranks of nodes that stay, which write them to the same place
 * there. Before a state is loaded, parts that ranks will read and that their node does not have are
 * brought from other nodes, to their place in the file of the node. Then the state is loaded as on
 * one node. So data that stay on their node are not moved, and are mapped as always.
 *
 * All functions are collective over session->comm, unless they say otherwise, and return negative
 * codes where the communication failed: the session is broken. *code is this rank's error; where a
 * function agrees, it is negative afterwards on all ranks or on none.
 */
#ifndef PLEAT_APP_NODES_H
#define PLEAT_APP_NODES_H

#include "app/session.h"
#include "dist/spread.h"

struct pleat_nodes {
    int node, count;
    int ranks;        /* number of ranks when nodes were found; fewer may be left */
    int *of;          /* the node of each rank */
    bool first;       /* this is the first rank of its node */
    bool stays;       /* after pleat_nodes_save: this node has ranks in the next program, too */
    uint64_t latest;  /* before a save: the highest generation on any node */
    uint64_t brought; /* bytes that this rank got from other nodes */
    /* while a state is loaded: its parts that each node has, and those that the ranks of this node
     * need */
    struct pleat_stretches held, needed;
};

/* Finds out which rank is on which node. count: of nodes, as rank 0 knows. */
int pleat_nodes_find(struct pleat_session *session, int count, int *code,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Frees what pleat_nodes_find made. Not collective. */
void pleat_nodes_drop(struct pleat_session *session);

/* ---- nodes-carry.c ---- */

/* All ranks get what each has, in the order of ranks. */
int pleat_nodes_gather(struct pleat_session *session, const struct pleat_stretches *mine, int *code,
                       struct pleat_stretches *all, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Bytes of a state that go from one rank to another. */
struct pleat_parcel_of_state {
    uint64_t first, end;
    int from, to;
};
PLEAT_ARRAY(pleat_carrying, struct pleat_parcel_of_state);
/* Sends and receives the parcels of the list in which this rank takes part, all ranks in the same
 * order: from the file of one node into that of another, piece by piece. */
int pleat_nodes_carry(struct pleat_session *session, const struct pleat_carrying *list, int *code,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- nodes-save.c ---- */

/* Before rank 0 begins a save: finds the highest generation on any node. */
int pleat_nodes_measure(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The first ranks of the other nodes begin the save, too. */
int pleat_nodes_begin(struct pleat_session *session, const struct pleat_save_order *order,
                      int *code, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Not collective: lists what this rank has of the state. */
int pleat_nodes_list(struct pleat_session *session, bool in_data, struct pleat_stretches *list,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Once all ranks have written: sends the parts of nodes that are left, and writes the tables. */
int pleat_nodes_save(struct pleat_session *session, const struct pleat_save_order *order,
                     const struct pleat_stretches *mine, int *code,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Makes what was saved the state, on all nodes or on none. *code: the outcome. */
int pleat_nodes_commit(struct pleat_session *session, int *code,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- nodes-load.c ---- */

/* Finds which node has a state of that generation, and fills session->held. *in_data: that state is
 * in the data file. PLEAT_E_CORRUPT: no node has it, or nodes have different ones. */
int pleat_nodes_seek(struct pleat_session *session, uint64_t generation, bool *in_data, int *code,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* session->held is the state that was found, in the data file (in_data) or in a slot: every rank
 * finds which parts its node has, and all get to know which node has which part. */
int pleat_nodes_find_state(struct pleat_session *session, bool in_data, int *code,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Brings the parts that ranks need and their node does not have (the nodes in the list do not
 * count). PLEAT_E_CORRUPT: no node has it. all: gets all ranks' needs; may be NULL. */
int pleat_nodes_bring(struct pleat_session *session, const struct pleat_stretches *needs,
                      struct pleat_stretches *all, int *code,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same for values and for objects that are no tail. */
int pleat_nodes_bring_all(struct pleat_session *session, int *code,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same for an object of the tail. */
int pleat_nodes_bring_tail(struct pleat_session *session, struct pleat_object *object,
                           const struct pleat_tail *tail, int *code,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* The node that has the byte of the state at an offset: this one, if it is one of several;
 * PLEAT_SPREAD_NOBODY: none has. Not collective. */
int pleat_nodes_with(const struct pleat_session *session, uint64_t offset);
/* Whether a node has that byte. Not collective. */
bool pleat_nodes_has(const struct pleat_session *session, int node, uint64_t offset);
/* Frees the memory of parts that the ranks of this node do not need any more. Not collective:
 * called by the first rank of each node, once the data file is no state. */
void pleat_nodes_free(const struct pleat_session *session);

#endif

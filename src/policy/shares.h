/* shares.h - the processes of a folded run on each of its nodes.
 *
 * They are started there, and do not move between nodes. So a run that is on several nodes keeps a
 * processor on each of them, has no use for more processors there than processes, and for none on
 * other nodes. Within that it has about as many processes on each of its processors (Utrera 2010,
 * equation 3.1, on each node): it grows where a processor has most processes, and shrinks where it
 * will have fewest.
 *
 * Processors of other nodes that are the same host (NODE_HOME) count as those of the node where the
 * processes are. They are given up before all others, whichever node has them.
 *
 * The core keeps the processes of a node with a piece of the claims there (pleat_piece.processes).
 * There are none where a site does not tell its nodes, and none of a run that is kept to one node.
 */
#ifndef PLEAT_POLICY_SHARES_H
#define PLEAT_POLICY_SHARES_H

#include "base/array.h"
#include "policy/view_size.h"

/* What a run has on one of its nodes. */
struct pleat_share {
    uint32_t node;
    int32_t processes, processors;
    int32_t to; /* the processors that it is to have */
};
PLEAT_ARRAY(pleat_share_list, struct pleat_share);

/* The number of nodes on which a component has processes; 0: that is not known, or it does not run.
 */
uint32_t pleat_view_share_nodes(const struct pleat_view *view,
                                const struct pleat_component *component);
/* Its processes on a node. */
int32_t pleat_view_share_on(const struct pleat_view *view, const struct pleat_component *component,
                            uint32_t node);
/* The node where the processes are that use what a component has of that node: that one, if it has
 * some there, or else the one with which it shares its host. */
uint32_t pleat_view_share_home(const struct pleat_view *view,
                               const struct pleat_component *component, uint32_t node);
/* Whether all processors of a claim are used by processes of its component that are on other nodes:
 * they came with a later allocation on their host. */
bool pleat_view_is_guest(const struct pleat_view *view, uint32_t claim);
/* How many such processors this claim and those behind it have, of the same component. */
int32_t pleat_view_guests_from(const struct pleat_view *view, uint32_t claim);
/* How many more processors it could use on a node. */
int32_t pleat_view_share_room(const struct pleat_view *view,
                              const struct pleat_component *component, uint32_t node);
/* The fewest processors on which it can run, with a processor on each node and not too many
 * processes on any; 0: its nodes are not known. */
int32_t pleat_view_shares_least(const struct pleat_view *view,
                                const struct pleat_component *component);

/* Appends what a component has on each of its nodes, which stays as it is for now. PLEAT_E_NOMEM.
 */
int pleat_shares_of(const struct pleat_view *view, const struct pleat_component *component,
                    struct pleat_share_list *shares) PLEAT_MUST_CHECK;
/* Takes `count` processors from the nodes of a run: fewer where each has only one left. Of nodes
 * that are alike the one with the highest number gives first, whatever the order of the list. */
void pleat_shares_shrink(const struct pleat_share_list *shares, int32_t count);
/* Adds `count` processors to the nodes of a run; room: how many are free on each, in the order of
 * the list. Fewer where there is no room, or no process without a processor. Returns how many. Of
 * nodes that are alike the one with the lowest number gets first. */
int32_t pleat_shares_grow(const struct pleat_share_list *shares, const int32_t *room,
                          int32_t count);

#endif

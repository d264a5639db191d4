/* home.h - the records of nodes, and which of them are one host. */
#ifndef PLEAT_POLICY_HOME_H
#define PLEAT_POLICY_HOME_H

#include "policy/view.h"

/* A node of a site; NULL: nothing is known of it. */
const struct pleat_node *pleat_view_node(const struct pleat_view *view, uint32_t site,
                                         uint32_t node);

/* The number of the node whose processes may use what another one has: that one, or the one with
 * which it shares its host. */
uint32_t pleat_view_home(const struct pleat_view *view, uint32_t site, uint32_t node);

#endif

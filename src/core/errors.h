/* errors.h - errors of sites */
#ifndef PLEAT_CORE_ERRORS_H
#define PLEAT_CORE_ERRORS_H

#include "core/state.h"

/* Counts an error at the site, of no node in particular. */
PLEAT_COLD void site_error(struct pleat_core *core, uint32_t site);
/* Counts an error at the site and on a node of it. */
PLEAT_COLD void node_error(struct pleat_core *core, uint32_t site, uint32_t node);
/* The node's site joins again: the node's errors are forgotten, and its processors are not known
 * yet. */
PLEAT_COLD void node_is_new(struct pleat_core *core, struct pleat_node *node);
/* The time has come at which nodes are considered again. */
PLEAT_COLD void nodes_forgive(struct pleat_core *core);
/* The site is considered again, whatever errors it had. */
PLEAT_COLD void site_pardon(struct pleat_core *core, uint32_t site);
/* A limit of errors has changed: sites and nodes are judged again. */
PLEAT_COLD void sites_judge(struct pleat_core *core);
/* The node could not start the component; the node has started it. */
PLEAT_COLD void start_has_failed(struct pleat_core *core, uint32_t component);
void start_works(struct pleat_core *core, uint32_t component);
/* Did the component end because its node could not start it, so that it waits for a while before it
 * is tried again? */
bool start_is_paused(const struct pleat_core *core, const struct pleat_component *component);
PLEAT_COLD void component_pause(struct pleat_core *core, uint32_t component);
PLEAT_COLD void on_pause_over(struct pleat_core *core, uint32_t component);

#endif

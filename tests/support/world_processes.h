/* world_processes.h - a stand-in for the agents of components whose processes agents prepare
 * (PLEAT_COMPONENT_PREPARES): starts and ends processes, and hands them over at any moment, also
 * when the core has just asked for them to be ended. */
#ifndef PLEAT_TESTS_WORLD_PROCESSES_H
#define PLEAT_TESTS_WORLD_PROCESSES_H

#include "world.h"

/* PREPARE, UNPREPARE or LEAVE: reaches the agent a moment later, unless an agent that has to know
 * is away by then. */
void world_processes_tell(struct world *world, const struct pleat_effect *effect);
/* Another agent came to a node: the processes there are gone, and those of runs that it led. */
void world_processes_lose(struct world *world, uint32_t site, uint32_t node);
/* Before an event is applied: processes with which a run was started are gone with the processors
 * that its site takes away. */
void world_processes_before(struct world *world, const struct pleat_event *event);
/* Something that an application, or its agent, does: asks for a process, does not want one any
 * more, stops one, lets one die; and words about claims that are another's. */
void world_processes_act(struct world *world);
/* No process may be on a processor that is not its component's any more. */
void world_processes_check(struct world *world);
void world_processes_finish(struct world *world);

#endif

/* agent.h - what this process and the agent of the run say to one another: lines of JSON over a
 * unix socket (docs/protocol.md). When the connection breaks it is made again, and what was not
 * answered is asked again. All functions need the lock. */
#ifndef PLEAT_PROCESS_AGENT_H
#define PLEAT_PROCESS_AGENT_H

#include <jansson.h>

#include "process/processes.h"

/* Connects, and says hello. PLEAT_E_CLOSED: nobody is there; PLEAT_E_NOMEM, PLEAT_E_SYSTEM. */
int pleat_agent_connect(struct pleat_processes *all, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reads and writes what can be without waiting, and connects again where that is due. */
void pleat_agent_talk(struct pleat_processes *all, int64_t now);
/* Says a line. Takes over `line` (NULL: out of memory). PLEAT_E_NOMEM; PLEAT_E_TOOBIG: such a line
 * is longer than the agent takes. While there is no connection nothing is said. */
int pleat_agent_say(struct pleat_processes *all, json_t *line) PLEAT_MUST_CHECK;
/* Says a request, and remembers it until it is answered (all->agent.asked). `number` is added: that
 * of an earlier request which this one is about; -1: a new one. Errors as those of pleat_agent_say.
 */
int pleat_agent_ask(struct pleat_processes *all, json_t *line, int64_t number) PLEAT_MUST_CHECK;
/* The answer to the request is not waited for any more. add: what it adds is stopped, if need be
 * over a later connection. */
void pleat_agent_forget(struct pleat_processes *all, bool add);
/* Says bye, waits a moment until it is said, and ends the connection. */
void pleat_agent_close(struct pleat_processes *all);

#endif

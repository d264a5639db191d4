/* architectures.h - which architectures the nodes of a site have, as their agents say, for jobs
 * whose processes ask for others: an agent that leads such a run is told, and so is the core. */
#ifndef PLEAT_DAEMON_ARCHITECTURES_H
#define PLEAT_DAEMON_ARCHITECTURES_H

#include <jansson.h>
#include <stdint.h>

struct agent;
struct daemon;
struct job;

/* An agent has called, and says which architecture its host has. */
void architectures_take(struct agent *agent, const json_t *hello);
/* It has said what it runs: what is known of its node goes to the core, and to all agents of its
 * site that lead such runs. */
void architectures_listed(struct agent *agent);
/* A run has started: its agent is told which architectures there are. */
void architectures_tell(struct daemon *d, const struct job *job);
/* Of all runs there, and those whose processes may be at several sites: one is to be removed. */
void architectures_tell_all(struct daemon *d, uint32_t site);
/* Requests of a job's run wait for nodes of certain architectures: `on` has the number by name, and
 * may be NULL. Agents of nodes of which nothing is known are called. */
void architectures_wanted(struct daemon *d, struct job *job, uint64_t run, const json_t *on);

#endif

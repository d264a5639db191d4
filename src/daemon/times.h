/* times.h - how long iterations take, as agents say, for policies that go by it */
#ifndef PLEAT_DAEMON_TIMES_H
#define PLEAT_DAEMON_TIMES_H

#include <jansson.h>
#include <stdint.h>

struct daemon;
struct job;

/* What an agent's notice `progress` says of the iterations at the present size becomes an input of
 * the core, where it is news. Agents of older versions do not say how many iterations they were. */
void times_take(struct daemon *d, struct job *job, uint64_t run, const json_t *params);
/* The same, of a folded program on one node, from what job->folded says. */
void times_take_folded(struct daemon *d, struct job *job);

/* A job starts: the core is told what earlier runs of its program have measured at its site. */
void times_recall(struct daemon *d, struct job *job);
/* Before a pass: the same of the first jobs of the queue whose site is certain, where a policy
 * chooses by it at which size they start. */
void times_recall_waiting(struct daemon *d);

#endif

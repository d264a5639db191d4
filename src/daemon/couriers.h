/* couriers.h - files that jobs' users have named, where the jobs' nodes do not see them.
 *
 * pleatd opens no such file: its file system may never answer. A courier does (src/courier), a
 * process of its own for a run's input and another one for its output. A run is started when its
 * couriers have opened their files: so what cannot be opened fails the start, as it does where the
 * files are seen.
 *
 * All of this is in memory only. A courier ends with pleatd; the next pleatd starts another one
 * when output comes, or when the agent has listed a run that has input. What an agent tells again
 * is written once (courier/record.h); a piece of input that it has already is not read again. */
#ifndef PLEAT_DAEMON_COURIERS_H
#define PLEAT_DAEMON_COURIERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/effect.h"

struct agent;
struct courier;
struct daemon;
struct job;
struct pleat_connection;
struct pleat_message;

struct couriers {
    struct courier *first;
};

/* A start that has waited: all its files are open, or (why is not NULL) one of them cannot be. */
typedef void couriers_opened(struct daemon *d, const struct pleat_effect *start,
                             const struct pleat_error *why);

/* Opens the files of a run that is about to be started. 0: they are open, or there are none; 1: not
 * yet, and `opened` is called, unless the run is forgotten before. Negative: nothing was begun. */
int couriers_open(struct daemon *d, const struct job *job, const struct pleat_effect *start,
                  bool truncate, couriers_opened *opened, struct pleat_error *err) PLEAT_MUST_CHECK;
/* A process has greeted as a courier. Takes over the connection. */
void couriers_accept(struct daemon *d, struct pleat_connection *connection, const json_t *params);
/* The notice `output` of an agent. False: that stream is not written by a courier. */
bool couriers_write(struct agent *agent, const struct job *job,
                    const struct pleat_message *message);
/* The agent has listed its runs: those that have input get it. */
void couriers_listed(struct agent *agent);
/* To be called once a second: tries again what could not be opened or read. */
void couriers_look(struct daemon *d);
/* The run is over. What was not written by then is said to be lost. */
void couriers_forget(struct daemon *d, uint64_t run);
void couriers_finish(struct daemon *d);

#endif

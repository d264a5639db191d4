/* log.h - repairs a log that is damaged, or not in its place, while pleatd runs */
#ifndef PLEAT_DAEMON_LOG_H
#define PLEAT_DAEMON_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct daemon;

struct log_state {
    int64_t good_seq; /* the last record that recovery could apply */
    bool committed;   /* the turn's transaction is committed, but the file is not in its place */
    int mark_fd;      /* descriptor of the mark (mark.h); 0: not open */
};

/* Writes something into the log, inside a transaction. */
typedef int log_writer(struct daemon *d, struct pleat_error *err);
/* Replaces a damaged log by a new one, with what can be read of it and the core's state. rest:
 * writes what else belongs to the turn that is being written; its records are in the core's state
 * already. NULL: no turn is being written. err: what is wrong with the log. If the repair fails the
 * process exits: jobs run on, and the next pleatd says why it cannot start. */
void log_repair(struct daemon *d, log_writer *rest, struct pleat_error *err);
/* If the file was removed, or replaced by another one, copies what is in the open one to its path.
 * On error the turn is not acknowledged, and the caller tries again. */
int log_put_in_place(struct daemon *d, struct pleat_error *err);
/* To be called now and then: if the log is not in its place, has the next turn put it there. */
void log_watch(struct daemon *d);
/* Between turns: repairs the log if it was found damaged. False: it was not. */
bool log_mend(struct daemon *d);

#endif

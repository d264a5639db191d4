/* log.h - the log, kept good and in its place */
#ifndef PLEAT_DAEMON_LOG_H
#define PLEAT_DAEMON_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct daemon;

struct log_state {
    int64_t good_seq; /* the last record that recovery could apply */
    bool committed;   /* the turn is in the store, which is not in its place */
    int mark_fd;      /* see mark.h; 0: not open */
};

/* Writes something into the log, inside a transaction. */
typedef int log_writer(struct daemon *d, struct pleat_error *err);
/* Makes a damaged log good. rest: what else is in its first transaction, where a turn is being
 * written, of which the core's state has the records already; or NULL. err: what is
 * wrong with the log. Where it cannot be made good the daemon ends, as a start would: jobs run on,
 * and the next one says why. */
void log_repair(struct daemon *d, log_writer *rest, struct pleat_error *err);
/* Where somebody has removed the file, or put another one there: what is in the one that is open is
 * written into a new one. Until that is there, nothing is acknowledged. */
int log_put_in_place(struct daemon *d, struct pleat_error *err);
/* Now and then: whether the log is still in its place; else it is put there. */
void log_watch(struct daemon *d);
/* Between turns: makes the log good where it was found damaged. False: it was not. */
bool log_mend(struct daemon *d);

#endif

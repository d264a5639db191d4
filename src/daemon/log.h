/* log.h - writing the log, and keeping it good */
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

/* Opens the log, or what is good of it, and takes its instance. After a death of pleatd its
 * structure is checked first, which reads all of it. */
int log_open(struct daemon *d, struct pleat_error *err);
/* Creates the core and recovers it from the log, or from what is good of it. */
int log_recover(struct daemon *d, struct pleat_error *err);
/* Writes what the turn has made, in one transaction. A damaged log is made good: then all is
 * written all the same. */
int log_write(struct daemon *d, struct pleat_error *err);
/* Now and then: whether the log is still in its place; else it is put there. */
void log_watch(struct daemon *d);
/* Between turns: makes the log good where it was found damaged. False: it was not. */
bool log_mend(struct daemon *d);

#endif

/* clean.h - removing what is kept about jobs */
#ifndef PLEAT_DAEMON_CLEAN_H
#define PLEAT_DAEMON_CLEAN_H

#include <stdbool.h>

#include "daemon/accounts.h"

struct daemon;

struct wish;

struct clean {
    struct wish *wishes;    /* the oldest first */
    struct numbers dropped; /* jobs of which nothing is kept after this turn */
    bool drops_shared;      /* nor texts that no job has any more */
};

/* Requests wait; the first of them, when nothing else is to be done. */
bool clean_waits(const struct daemon *d);
void clean_run(struct daemon *d);
/* As archive_write and archive_written. */
int clean_write(struct daemon *d, struct pleat_error *err);
void clean_written(struct daemon *d);
void clean_finish(struct daemon *d);

#endif

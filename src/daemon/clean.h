/* clean.h - `pleat clean`: removes what is kept about ended jobs */
#ifndef PLEAT_DAEMON_CLEAN_H
#define PLEAT_DAEMON_CLEAN_H

#include <stdbool.h>

#include "daemon/accounts.h"

struct daemon;

struct wish;

struct clean {
    struct wish *wishes;    /* requests of users, the oldest first */
    struct numbers dropped; /* jobs of which nothing is kept after this turn */
    bool drops_shared;      /* also removes texts (environments) that no job refers to any more */
};

/* Whether requests wait. clean_run carries out the oldest one; to be called when nothing else is to
 * be done. */
bool clean_waits(const struct daemon *d);
void clean_run(struct daemon *d);
/* As archive_write and archive_written: inside the turn's transaction, and after it. */
int clean_write(struct daemon *d, struct pleat_error *err);
void clean_written(struct daemon *d);
void clean_finish(struct daemon *d);

#endif

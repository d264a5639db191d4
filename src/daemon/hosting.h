/* hosting.h - pleatd as the host of sites and runners (model/host.h). */
#ifndef PLEAT_DAEMON_HOSTING_H
#define PLEAT_DAEMON_HOSTING_H

#include "base/error.h"

struct daemon;
struct later;

struct hosting {
    struct later *later; /* calls that are due later, the latest in front */
    struct pleat_commands *commands;
};

/* Fills in d->host; the loop is there. PLEAT_E_NOMEM. */
int hosting_init(struct daemon *d, struct pleat_error *err);
/* Kills what runs for sites, and forgets calls that are due: the loop has to run on. */
void hosting_end(struct daemon *d);
/* When the loop has run. */
void hosting_finish(struct daemon *d);

#endif

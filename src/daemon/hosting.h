/* hosting.h - pleatd as the host of sites and runners (model/host.h). */
#ifndef PLEAT_DAEMON_HOSTING_H
#define PLEAT_DAEMON_HOSTING_H

#include "base/error.h"
#include "daemon/later.h"

struct daemon;

struct hosting {
    struct later later;
    struct pleat_commands *commands;
};

/* Fills in d->host; the loop is there. PLEAT_E_NOMEM. */
int hosting_init(struct daemon *d, struct pleat_error *err);
/* Kills what runs for sites, and forgets calls that are due: the loop has to run on. */
void hosting_end(struct daemon *d);
/* When the loop has run. */
void hosting_finish(struct daemon *d);

#endif

/* site_list.h - which sites there are, and the index in the core that each has for ever: those of
 * pleat.conf, and those that 'pleat site add' has made. The list is kept in the log, and written in
 * the transaction of the turn that changes it, together with the events that tell the core.
 *
 * Where a site is in both, pleat.conf counts. A site that is kept and that pleat.conf does not have
 * any more leaves: it is drained, and gone when its last job is. A site that is gone keeps its
 * index; one of the same name gets it again. */
#ifndef PLEAT_DAEMON_SITE_LIST_H
#define PLEAT_DAEMON_SITE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct daemon;
struct pleat_config_site;

struct site_list {
    bool changed;     /* the list is to be written with the next turn */
    uint32_t leaving; /* number of sites that leave */
    bool sweeps;      /* files of agents of sites that are gone may be left */
};

/* After a recovery: orders the sites of the configuration (d->config.sites) as the core knows them.
 * PLEAT_E_INVALID: a site that was added cannot be understood any more. */
int site_list_open(struct daemon *d, struct pleat_error *err);
/* Inside a transaction. */
int site_list_write(struct daemon *d, struct pleat_error *err);
/* The site of that name that is not gone; PLEAT_NONE: there is none. */
uint32_t site_list_find(const struct daemon *d, const char *name);
/* The index that a new site of that name gets, with a place in d->config.sites. PLEAT_E_TOOBIG,
 * PLEAT_E_NOMEM. */
int site_list_place(struct daemon *d, const char *name, uint32_t *index, struct pleat_error *err);
/* Sites that are there and do not leave. */
uint32_t site_list_staying(const struct daemon *d);
/* The site is gone by the event that is being applied: only its name is left. */
void site_list_gone(struct daemon *d, uint32_t index);
/* "default", "pleat.conf", "command". */
const char *site_list_from(const struct pleat_config_site *site);

#endif

/* sites.h - the sites of the configuration */
#ifndef PLEAT_DAEMON_SITES_H
#define PLEAT_DAEMON_SITES_H

#include "base/error.h"
#include "model/effect.h"

struct daemon;

int sites_open(struct daemon *d, struct pleat_error *err);
/* Opens a site for which there is room. */
int sites_open_one(struct daemon *d, uint32_t index, struct pleat_error *err);
/* A node is closed (pleat_view_node_is_closed), or open again. */
void sites_node_shut(struct daemon *d, uint32_t site, uint32_t node, bool shut);
/* Makes room for as many sites as d->config has. PLEAT_E_NOMEM. */
int sites_room(struct daemon *d, struct pleat_error *err);
void sites_close(struct daemon *d);
/* To be called every second while there are jobs: polls the sites whose time it is. */
void sites_poll(struct daemon *d);
/* Somebody looks at a site: it is polled if its time is over. */
void sites_look(struct daemon *d, uint32_t index);
/* After a recovery: sites take over the claims that the core holds. */
int sites_adopt(struct daemon *d, struct pleat_error *err);
/* After a recovery: what the last pleatd knew to be free on hosts of clusters counts no more. Who
 * asks to grow there is told so, until the site has found its allocations again, and says what is
 * free; a claim would be refused after it was accepted. */
void sites_free_is_unknown(struct daemon *d);
/* Asks a site for a claim, its split, or its release. */
void sites_carry_out(struct daemon *d, const struct pleat_effect *effect);

#endif

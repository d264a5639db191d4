/* sites_change.h - sites that come and go while pleatd runs
 *
 * A site that is added is opened, then written with its first events: what was not written is not
 * there after a restart. One that is removed first leaves (it is drained, and that is written);
 * when it has no jobs, claims or allocations any more, SITE_GONE is applied and written; only then
 * it is closed, its agents end, and their files are removed, also by the next pleatd.
 */
#ifndef PLEAT_DAEMON_SITES_CHANGE_H
#define PLEAT_DAEMON_SITES_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct daemon;
struct pleat_config_site;
struct pleat_string;

/* Adds a site, and takes over what *site owns, also on failure. PLEAT_E_EXISTS: its name is taken;
 * PLEAT_E_INVALID: it cannot be opened; PLEAT_E_TOOBIG, PLEAT_E_NOMEM, PLEAT_E_SYSTEM. */
int sites_add(struct daemon *d, struct pleat_config_site *site, struct pleat_error *err);
/* The site leaves from now on; it stays after all. */
void sites_let_go(struct daemon *d, uint32_t index);
void sites_stay(struct daemon *d, uint32_t index);
/* Jobs that are at the site, or can only run there, have not ended: their numbers as a text, "3,
 * 5", of a few; "" if there are none. waiting: only those that could run nowhere else. */
void sites_jobs(struct daemon *d, uint32_t index, bool waiting, struct pleat_string *text);
/* To be called after each turn, and every second: asks for SITE_GONE for the sites that leave and
 * that nothing holds any more. */
void sites_leave(struct daemon *d);
/* To be called when a turn is written: closes the sites that are gone, and removes what they
 * left. */
void sites_left(struct daemon *d);

#endif

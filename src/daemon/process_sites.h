/* process_sites.h - sites other than a job's own where its processes may be, since its user has
 * named them (the spec's `sites`) */
#ifndef PLEAT_DAEMON_PROCESS_SITES_H
#define PLEAT_DAEMON_PROCESS_SITES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct daemon;
struct job;
struct pleat_spec;

/* PLEAT_E_NOTFOUND: one of the sites that a spec names does not exist; err says which. */
int process_sites_check(struct daemon *d, const struct pleat_spec *spec,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether processes of a job may be at a site that is not its own: it is named, it is there, and
 * nobody removes it. */
bool process_sites_allow(struct daemon *d, const struct job *job, uint32_t site);
/* The site of that name; PLEAT_NONE: there is none. */
uint32_t process_sites_find(struct daemon *d, const char *name);
/* Requests of a job's run wait for other sites: `at` has them by their names (docs/protocol.md, the
 * notice `demanded`), and may be NULL. */
void process_sites_wanted(struct daemon *d, const struct job *job, uint64_t run, const json_t *at);
/* So many of those that wait can be served at any site: its own, and those that its user has named,
 * in that order. */
void process_sites_any(struct daemon *d, const struct job *job, uint64_t run, uint32_t waiting);

#endif

/* simgrid.h - SimGrid's platforms (Batsim's and ElastiSim's), as far as they fit. */
#ifndef PLEAT_SCENARIO_SIMGRID_H
#define PLEAT_SCENARIO_SIMGRID_H

#include "sim/platform.h"

/* Appends the sites of a text in XML: each cluster or cabinet, and the hosts of a zone that have
 * one speed. A host is one processor, whatever cores it has, as Batsim and ElastiSim count them.
 * Hosts that compute nothing (speed 0), or have the role of a master, a batch system or a storage,
 * are left out. Speeds are relative to platform->flops, which the first site sets where it is not
 * known. Links and routes are not read. notes (may be NULL) gets what is left out. PLEAT_E_INVALID:
 * err begins with "NAME:LINE: ". PLEAT_E_NOMEM. An error leaves the platform unchanged. */
int pleat_simgrid_read_text(const char *text, size_t length, const char *name,
                            struct pleat_platform *platform, struct pleat_string *notes,
                            struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

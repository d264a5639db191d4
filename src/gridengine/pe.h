/* pe.h - parallel environments: programs may be started from outside in a job only if it is in one
 * with control_slaves TRUE; and what its allocation_rule is says whether the job is on one node
 * ($pe_slots) or may be on several ($fill_up, $round_robin).
 */
#ifndef PLEAT_GRIDENGINE_PE_H
#define PLEAT_GRIDENGINE_PE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

/* The names of the environments that can be used: the wanted one, else the one that worked before,
 * else all. PLEAT_E_INVALID: there is none, or the wanted one (NULL: any) cannot be used. */
int pleat_gridengine_pes(bool several, const char *wanted, json_t **names,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* A job could be submitted in this environment; "": the remembered one does not work for all
 * jobs. */
void pleat_gridengine_pe_good(bool several, const char *name);

#endif

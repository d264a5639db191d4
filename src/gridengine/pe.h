/* pe.h - parallel environments: a job has processors of one node, in which programs may be started
 * from outside, only in one with allocation_rule $pe_slots and control_slaves TRUE.
 */
#ifndef PLEAT_GRIDENGINE_PE_H
#define PLEAT_GRIDENGINE_PE_H

#include <jansson.h>

#include "base/error.h"

/* The names of those that can be used: the one that is wanted, else that which was good, else all.
 * PLEAT_E_INVALID: there is none, or the one that is wanted (NULL: any) cannot be used. */
int pleat_gridengine_pes(const char *wanted, json_t **names,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* A job could be submitted in it; "": that one is not good for all jobs. */
void pleat_gridengine_pe_good(const char *name);

#endif

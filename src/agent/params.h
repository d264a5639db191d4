/* params.h - reads members that several requests have. Each function fails with PLEAT_E_INVALID,
 * with the name of the member. */
#ifndef PLEAT_AGENT_PARAMS_H
#define PLEAT_AGENT_PARAMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define PLEAT_PARAM_RANKS_MAX 65536

/* The number of a run or of a resize, from 1. */
int pleat_param_id(const json_t *params, const char *name, uint64_t *id,
                   struct pleat_error *err) PLEAT_MUST_CHECK;
/* A duration of at most a day, in seconds; as microseconds. `otherwise`: where the member is
 * missing. */
int pleat_param_seconds(const json_t *params, const char *name, double otherwise, int64_t *us,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* An array of strings (borrowed). variables: each string is "NAME=value". */
int pleat_param_strings(const json_t *params, const char *name, bool variables,
                        const json_t **array, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The member `slots` (borrowed). Only its shape is checked: whether the node has these slots shows
 * when the run is bound to them. *slots stays NULL where the member is missing. */
int pleat_param_slots(const json_t *params, const json_t **slots,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

/* params.h - members of requests that several of them have. Each fails with PLEAT_E_INVALID, with
 * the member's name. */
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
/* A day at most; as microseconds. */
int pleat_param_seconds(const json_t *params, const char *name, double otherwise, int64_t *us,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* An array of strings (borrowed); each "NAME=value" where variables are wanted. */
int pleat_param_strings(const json_t *params, const char *name, bool variables,
                        const json_t **array, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The member `slots` (borrowed), by its shape; whether there are such slots shows when the run is
 * bound to them. *slots stays NULL where there is none. */
int pleat_param_slots(const json_t *params, const json_t **slots,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

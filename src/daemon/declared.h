/* declared.h - which numbers of processors a job's program can use, as it says itself */
#ifndef PLEAT_DAEMON_DECLARED_H
#define PLEAT_DAEMON_DECLARED_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"

struct daemon;
struct job;
struct pleat_component;
struct pleat_sizes;

/* The number of a list of sizes that the core has already; -1: it has none like it. */
int32_t size_list_find(const struct daemon *d, const struct pleat_sizes *sizes);
/* Takes an agent's notice `limit`. PLEAT_E_INVALID: it makes no sense. */
int declared_take(struct daemon *d, const struct job *job, uint64_t run, const json_t *params,
                  struct pleat_error *err);
/* {"min", "max", "sizes"}: each null where the program does not limit it; null: the program has
 * declared nothing. */
json_t *declared_to_json(struct daemon *d, const struct pleat_component *component);

#endif

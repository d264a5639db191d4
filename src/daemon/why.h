/* why.h - the answer to `why`: why a job waits, or has the size that it has */
#ifndef PLEAT_DAEMON_WHY_H
#define PLEAT_DAEMON_WHY_H

#include <jansson.h>

#include "base/error.h"

struct daemon;
struct job;
struct pleat_pass;

int why_to_json(struct daemon *d, struct job *job, json_t **result, struct pleat_error *err);
/* Why a component waits, in few members, from a rehearsed pass. */
json_t *why_waits_short(const struct pleat_pass *pass, uint32_t component);

#endif

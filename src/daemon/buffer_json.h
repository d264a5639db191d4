/* buffer_json.h - what an evolving job has asked for, and what its buffer was worth, for clients */
#ifndef PLEAT_DAEMON_BUFFER_JSON_H
#define PLEAT_DAEMON_BUFFER_JSON_H

#include <jansson.h>
#include <stdint.h>

struct daemon;
struct pleat_component;
struct pleat_pass;

/* docs/protocol.md, "Members of buffer"; null for other jobs. */
json_t *buffer_to_json(struct daemon *d, const struct pleat_component *component);
/* Why it is as large as it is, and why requests wait, from a rehearsed pass: docs/protocol.md,
 * "Why", `buffer` of `size`; null for other jobs. */
json_t *buffer_why_to_json(struct daemon *d, const struct pleat_pass *pass, uint32_t component);

#endif

/* buffer_json.h - what an evolving job has asked for, and what its buffer was worth, for clients */
#ifndef PLEAT_DAEMON_BUFFER_JSON_H
#define PLEAT_DAEMON_BUFFER_JSON_H

#include <jansson.h>

struct daemon;
struct pleat_component;

/* docs/protocol.md, "Members of buffer"; null for other jobs. */
json_t *buffer_to_json(struct daemon *d, const struct pleat_component *component);

#endif

/* curve.h - what was learned of how a job's speed depends on its size, as clients see it */
#ifndef PLEAT_DAEMON_CURVE_H
#define PLEAT_DAEMON_CURVE_H

#include <jansson.h>
#include <stdint.h>

struct daemon;
struct pleat_component;

/* docs/protocol.md, "Members of curve"; null where no policy in force wants to know the curve, and
 * where nothing was measured yet. */
json_t *curve_to_json(struct daemon *d, const struct pleat_component *component);
/* What that policy makes of it for a component that could have `most` processors now; likewise. */
json_t *curve_spot_to_json(struct daemon *d, const struct pleat_component *component, int32_t most);

/* What a policy that chooses by the curve at which size a component starts knew when it started it:
 * "sizes" (number of sizes of which anything is known) and "spot" (null: these are too few). NULL:
 * no such policy is in force. */
json_t *curve_start_to_json(struct daemon *d, const struct pleat_component *component);

#endif

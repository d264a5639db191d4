/* Nothing in advance: what a component that evolves is given comes from its requests alone.
 *
 * What a failed request placed stays in the buffer until a later one takes it (Liu et al. 2009,
 * 3.1); what the application vacates goes back to the site at once. */
#include "policy/policies.h"

const struct pleat_policy pleat_policy_buffer_none = {
    .number = 1,
    .version = 1,
    .question = PLEAT_BUFFER,
    .name = "none",
    .source = "our own",
    .summary = "prepare no processes in advance",
};

/* Nothing is prepared in advance: a component that evolves gets processes by its requests alone.
 *
 * A processor that was claimed after a failed request stays in the buffer until a later request
 * takes it (Liu et al. 2009, 3.1). A processor that the application leaves goes back to the site at
 * once. */
#include "policy/policies.h"

const struct pleat_policy pleat_policy_buffer_none = {
    .number = 1,
    .version = 1,
    .question = PLEAT_BUFFER,
    .name = "none",
    .source = "our own",
    .summary = "prepare no processes in advance",
};

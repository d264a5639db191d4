/* Any program or script, started once, whatever its size: PLEAT_PROCESSORS in its environment says
 * how many processors it may use. Its size does not change while it runs. */
#include "runner/agent_runner.h"

const struct pleat_agent_runner_kind pleat_runner_plain = {.name = "plain"};

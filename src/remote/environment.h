/* environment.h - the environment of the command that pleat-remote starts: its own, which is the
 * launcher's, without the variables that are for the launcher alone (base/remote.h). */
#ifndef PLEAT_REMOTE_ENVIRONMENT_H
#define PLEAT_REMOTE_ENVIRONMENT_H

#include <stdbool.h>

/* Makes this process's environment that of a part on the node with that name. `here`: the node is
 * this one, whose scratch directory is known; else the variable that says which variables name that
 * directory stays, for the agent that knows it. 0, or PLEAT_E_NOMEM. */
int pleat_remote_environment(const char *name, bool here);

#endif

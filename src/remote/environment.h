/* environment.h - the environment of what pleat-remote has started: its own, which is the
 * launcher's, without what is for the launcher alone (base/remote.h). */
#ifndef PLEAT_REMOTE_ENVIRONMENT_H
#define PLEAT_REMOTE_ENVIRONMENT_H

#include <stdbool.h>

/* Makes this process's environment that of a part on the node with that name. `here`: on this node,
 * whose scratch directory is known; else what tells which variables name that directory stays, for
 * whoever knows it. 0, or PLEAT_E_NOMEM. */
int pleat_remote_environment(const char *name, bool here);

#endif

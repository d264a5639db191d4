#include "gridengine/state.h"

#include <stdbool.h>
#include <string.h>

/* Letters: d deleted, E error, h held, q or w waiting, t on its way to a node, r running, R
 * started again; s, S, T, P suspended. Deleted jobs stay there until the node has told their end:
 * those of Pleat have a notice first (-notify). */
const char *pleat_gridengine_state(const char *letters, const char **reason)
{
    bool waits = strpbrk(letters, "qw") != NULL;
    *reason = "";
    if (strchr(letters, 'd') || strchr(letters, 'z')) {
        *reason = "DELETED";
        return !waits && strpbrk(letters, "rsSTP") ? "ending" : "ended";
    }
    if (!waits && strpbrk(letters, "rsSTP"))
        return "running";
    *reason = strchr(letters, 'E')   ? "Error"
              : strchr(letters, 'h') ? "Held"
              : waits                ? "?"
                                     : PLEAT_GRIDENGINE_STARTING;
    return "pending";
}

/* Letters: u unknown, E error, d disabled, D by a calendar, s suspended, S by another queue, C by a
 * calendar, o about to be removed, c configured in two ways, a and A alarms: too much load. */
const char *pleat_gridengine_instance(const char *letters)
{
    if (strchr(letters, 'u'))
        return "down";
    return strpbrk(letters, "EdDsSCocP") ? "drained" : "";
}

#include "model/occasion.h"

#include <string.h>

static const char *const names[] = {
    [PLEAT_OCCASION_UNKNOWN] = "unknown", [PLEAT_OCCASION_FREE] = "free",
    [PLEAT_OCCASION_WAITING] = "waiting", [PLEAT_OCCASION_USER] = "user",
    [PLEAT_OCCASION_LIMITS] = "limits",   [PLEAT_OCCASION_POLICY] = "policy",
    [PLEAT_OCCASION_TAKEN] = "taken",
};

const char *pleat_occasion_name(enum pleat_occasion occasion)
{
    return names[occasion < PLEAT_OCCASION_COUNT ? occasion : PLEAT_OCCASION_UNKNOWN];
}

enum pleat_occasion pleat_occasion_parse(const char *name)
{
    int found = PLEAT_OCCASION_COUNT - 1;
    while (found && (!name || strcmp(name, names[found])))
        found--;
    return (enum pleat_occasion)found;
}

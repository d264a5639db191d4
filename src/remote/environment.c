#include "remote/environment.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/remote.h"

/* Gives each variable that is named the value of PLEAT_SCRATCH. */
static int set_scratch(void)
{
    const char *names = getenv(PLEAT_PART_SCRATCH_ENV), *scratch = getenv(PLEAT_SCRATCH_ENV);
    char *text = names && scratch ? strdup(names) : NULL, *rest = NULL;
    if (!names || !scratch)
        return 0;
    if (!text)
        return PLEAT_E_NOMEM;
    int bad = 0;
    for (char *name = strtok_r(text, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        bad = setenv(name, scratch, 1) || bad;
    free(text);
    return bad ? PLEAT_E_NOMEM : 0;
}

int pleat_remote_environment(const char *name, bool here)
{
    const char *temporary = getenv(PLEAT_PART_TMPDIR_ENV);
    int bad = 0;
    if (temporary && *temporary)
        bad = setenv("TMPDIR", temporary, 1);
    else if (temporary)
        bad = unsetenv("TMPDIR");
    bad = bad || setenv(PLEAT_NODE_NAME_ENV, name, 1) || unsetenv(PLEAT_PART_TMPDIR_ENV) ||
          unsetenv(PLEAT_REMOTE_ENV) || unsetenv(PLEAT_REMOTE_HERE_ENV) ||
          (here && set_scratch()) || (here && unsetenv(PLEAT_PART_SCRATCH_ENV));
    return bad ? PLEAT_E_NOMEM : 0;
}

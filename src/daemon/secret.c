/* The key of an instance. It is kept in the log, so that a run that is relaunched after a restart
 * has the same names.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include "daemon/crash.h"
#include "daemon/daemon.h"
#include "daemon/secret.h"

#define TEXT_SIZE (2 * PLEAT_SIPHASH_KEY + 1)

static int write_secret(struct daemon *d, const char *text, struct pleat_error *err)
{
    int rc = pleat_store_begin(d->store, err);
    if (!rc)
        rc = pleat_store_put_meta(d->store, "secret", text, err);
    crash_point();
    if (!rc)
        rc = pleat_store_commit(d->store, err);
    crash_point();
    return rc;
}

int secret_take(struct daemon *d, struct pleat_error *err)
{
    struct pleat_string known = {0};
    char text[TEXT_SIZE];
    int rc = pleat_store_get_meta(d->store, "secret", &known, err);
    bool good = rc == 0 && known.length == TEXT_SIZE - 1;
    for (size_t i = 0; good && i < sizeof(d->secret); i++)
        good = sscanf(known.text + 2 * i, "%2hhx", &d->secret[i]) == 1;
    pleat_string_finish(&known);
    if (good || (rc && rc != PLEAT_E_NOTFOUND))
        return rc;
    if (getrandom(d->secret, sizeof(d->secret), 0) != (ssize_t)sizeof(d->secret))
        return pleat_error_sys(err, errno, "no random numbers");
    for (size_t i = 0; i < sizeof(d->secret); i++)
        snprintf(text + 2 * i, 3, "%02x", d->secret[i]);
    return write_secret(d, text, err);
}

/* The key of an instance. It is kept in the log, so that a run that is relaunched after a restart
 * has the same names; and in the mark, so that it outlives the loss of the log, or of that page.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "daemon/crash.h"
#include "daemon/daemon.h"
#include "daemon/mark.h"
#include "daemon/secret.h"

static int write_secret(struct daemon *d, struct pleat_error *err)
{
    int rc = pleat_store_begin(d->store, err);
    if (!rc)
        rc = pleat_store_put_meta(d->store, "secret", d->secret_text, err);
    crash_point();
    if (!rc)
        rc = pleat_store_commit(d->store, err);
    crash_point();
    if (!rc)
        log_mark(d);
    return rc;
}

/* Returns whether the text is one of a key, and then sets the key. */
static bool take(struct daemon *d, const char *text)
{
    bool good = strlen(text) == sizeof(d->secret_text) - 1;
    for (size_t i = 0; good && i < sizeof(d->secret); i++)
        good = sscanf(text + 2 * i, "%2hhx", &d->secret[i]) == 1;
    if (good && text != d->secret_text)
        memcpy(d->secret_text, text, sizeof(d->secret_text));
    return good;
}

int secret_take(struct daemon *d, struct pleat_error *err)
{
    struct pleat_string known = {0};
    int rc = pleat_store_get_meta(d->store, "secret", &known, err);
    bool good = rc == 0 && take(d, known.text);
    pleat_string_finish(&known);
    if (good || (rc && rc != PLEAT_E_NOTFOUND))
        return rc;
    log_mark_secret(d);
    if (take(d, d->secret_text))
        return write_secret(d, err);
    if (getrandom(d->secret, sizeof(d->secret), 0) != (ssize_t)sizeof(d->secret))
        return pleat_error_sys(err, errno, "no random numbers");
    for (size_t i = 0; i < sizeof(d->secret); i++)
        snprintf(d->secret_text + 2 * i, 3, "%02x", d->secret[i]);
    return write_secret(d, err);
}

#include "base/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lock_record.h"
#include "base/utf8.h"

static const char *env(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] == '/' ? value : NULL; /* XDG: relative paths must be ignored */
}

/* XDG_RUNTIME_DIR, unless it is another user's (after su, or in root's sudo). Even if we could
 * write there, its owner could replace what we make. */
static const char *runtime_env(void)
{
    struct stat st;
    const char *value = env("XDG_RUNTIME_DIR");
    return value && (stat(value, &st) || st.st_uid == geteuid()) ? value : NULL;
}

static int fits(int length, size_t size)
{
    return length >= 0 && (size_t)length < size;
}

int pleat_paths_init(struct pleat_paths *paths, struct pleat_error *err)
{
    char fallback[64];
    snprintf(fallback, sizeof(fallback), "/tmp/pleat-%lu", (unsigned long)getuid());
    const char *private_dir = getenv("PLEAT_DIR");
    const char *home = env("HOME");
    const char *runtime = runtime_env();
    int ok = 1;

    if (private_dir && private_dir[0]) {
        char *absolute = private_dir[0] == '/' ? strdup(private_dir) : NULL;
        if (private_dir[0] == '/' && !absolute)
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        if (!absolute) {
            char cwd[256];
            if (!getcwd(cwd, sizeof(cwd)) || asprintf(&absolute, "%s/%s", cwd, private_dir) < 0)
                return pleat_error_set(err, PLEAT_E_INVALID,
                                       "PLEAT_DIR '%s' cannot be made absolute", private_dir);
        }
        ok = fits(snprintf(paths->runtime, sizeof(paths->runtime), "%s", absolute),
                  sizeof(paths->runtime)) &&
             fits(snprintf(paths->state, sizeof(paths->state), "%s", absolute),
                  sizeof(paths->state)) &&
             fits(snprintf(paths->config, sizeof(paths->config), "%s", absolute),
                  sizeof(paths->config));
        free(absolute);
    } else {
        ok = runtime ? fits(snprintf(paths->runtime, sizeof(paths->runtime), "%s/pleat", runtime),
                            sizeof(paths->runtime))
                     : fits(snprintf(paths->runtime, sizeof(paths->runtime), "%s", fallback),
                            sizeof(paths->runtime));
        const char *state = env("XDG_STATE_HOME");
        const char *config = env("XDG_CONFIG_HOME");
        if (state)
            ok = ok && fits(snprintf(paths->state, sizeof(paths->state), "%s/pleat", state),
                            sizeof(paths->state));
        else if (home)
            ok = ok &&
                 fits(snprintf(paths->state, sizeof(paths->state), "%s/.local/state/pleat", home),
                      sizeof(paths->state));
        else
            ok = ok && fits(snprintf(paths->state, sizeof(paths->state), "%s", fallback),
                            sizeof(paths->state));
        if (config)
            ok = ok && fits(snprintf(paths->config, sizeof(paths->config), "%s/pleat", config),
                            sizeof(paths->config));
        else if (home)
            ok =
                ok && fits(snprintf(paths->config, sizeof(paths->config), "%s/.config/pleat", home),
                           sizeof(paths->config));
        else
            ok = ok && fits(snprintf(paths->config, sizeof(paths->config), "%s", fallback),
                            sizeof(paths->config));
    }
    ok =
        ok && fits(snprintf(paths->socket, sizeof(paths->socket), "%s/pleatd.sock", paths->runtime),
                   sizeof(paths->socket));
    if (!ok)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "the directory for the socket has too long a name (at most 90 "
                               "bytes): set PLEAT_DIR or XDG_RUNTIME_DIR to a shorter one");
    const char *all[] = {paths->runtime, paths->state, paths->config};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (!pleat_utf8_is(all[i]))
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "the directory '%s' has a name that is not UTF-8, of which jobs "
                                   "and commands cannot be told: set PLEAT_DIR (or XDG_STATE_HOME, "
                                   "XDG_RUNTIME_DIR, XDG_CONFIG_HOME) to another one",
                                   all[i]);
    return 0;
}

bool pleat_paths_recorded_socket(const struct pleat_paths *paths, char *socket, size_t size)
{
    struct pleat_lock_record record;
    return pleat_lock_record_read(&record, paths->state) && *record.socket &&
           fits(snprintf(socket, size, "%s", record.socket), size);
}

static int belongs_to_another(const char *path, uid_t owner, struct pleat_error *err)
{
    return pleat_error_set(
        err, PLEAT_E_PERMISSION,
        "%s belongs to user %lu, not to you: set PLEAT_DIR to a directory of your own", path,
        (unsigned long)owner);
}

int pleat_paths_check_config(const struct pleat_paths *paths, struct pleat_error *err)
{
    struct stat st;
    if (stat(paths->config, &st) || st.st_uid == geteuid() || st.st_uid == 0)
        /* none, or of this user or root; who else may write to it is not checked */
        return 0;
    return belongs_to_another(paths->config, st.st_uid, err);
}

/* Refuses a link of another user, who could redirect what we write. */
static int check_no_foreign_link(const char *path, struct pleat_error *err)
{
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && st.st_uid != geteuid() && st.st_uid != 0)
        return belongs_to_another(path, st.st_uid, err);
    return 0;
}

int pleat_paths_make_private(const char *path, struct pleat_error *err)
{
    char part[512];
    if (strlen(path) >= sizeof(part))
        return pleat_error_set(err, PLEAT_E_TOOBIG, "path too long: %s", path);
    for (size_t i = 1;; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (check_no_foreign_link(part, err))
            return PLEAT_E_PERMISSION;
        if (mkdir(part, 0700) && errno != EEXIST)
            return pleat_error_sys(err, errno, "cannot make directory %s", part);
        if (path[i] == '\0' || path[i + 1] == '\0')
            break;
    }
    struct stat st;
    if (stat(path, &st))
        return pleat_error_sys(err, errno, "cannot look at directory %s", path);
    if (!S_ISDIR(st.st_mode))
        return pleat_error_set(err, PLEAT_E_INVALID, "%s is not a directory", path);
    if (st.st_uid != geteuid())
        return belongs_to_another(path, st.st_uid, err);
    if (st.st_mode & 022)
        return pleat_error_set(err, PLEAT_E_PERMISSION,
                               "others can write to %s: chmod go-w it, or set PLEAT_DIR", path);
    return 0;
}

int pleat_paths_beside(const char *file, char *path, size_t size, struct pleat_error *err)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length < 0)
        return pleat_error_sys(err, errno, "cannot find out where this program is");
    self[length] = '\0';
    const char *slash = strrchr(self, '/');
    int used = snprintf(path, size, "%.*s/%s", slash ? (int)(slash - self) : 0, self, file);
    return used < 0 || (size_t)used >= size
               ? pleat_error_set(err, PLEAT_E_TOOBIG, "the path of %s is too long", file)
               : 0;
}

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

static bool put(char *path, size_t size, const char *directory, const char *below)
{
    return fits(snprintf(path, size, "%s%s", directory, below), size);
}

static int too_long(struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_TOOBIG,
                           "the directory for the socket has too long a name (at most 90 bytes): "
                           "set PLEAT_DIR or XDG_RUNTIME_DIR to a shorter one");
}

/* One directory for all, which PLEAT_DIR names. */
static int use_private(struct pleat_paths *paths, const char *directory, struct pleat_error *err)
{
    char *absolute = directory[0] == '/' ? strdup(directory) : NULL;
    if (directory[0] == '/' && !absolute)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (!absolute) {
        char cwd[256];
        if (!getcwd(cwd, sizeof(cwd)) || asprintf(&absolute, "%s/%s", cwd, directory) < 0)
            return pleat_error_set(err, PLEAT_E_INVALID, "PLEAT_DIR '%s' cannot be made absolute",
                                   directory);
    }
    bool ok = put(paths->runtime, sizeof(paths->runtime), absolute, "") &&
              put(paths->state, sizeof(paths->state), absolute, "") &&
              put(paths->config, sizeof(paths->config), absolute, "");
    free(absolute);
    return ok ? 0 : too_long(err);
}

/* The user's directory of a kind: where the variable says, or below HOME; else the fallback. */
static bool put_users(char *path, size_t size, const char *variable, const char *below_home,
                      const char *fallback)
{
    const char *given = env(variable), *home = env("HOME");
    if (given)
        return put(path, size, given, "/pleat");
    return home ? put(path, size, home, below_home) : put(path, size, fallback, "");
}

/* The directories that the user's environment names. */
static int use_users(struct pleat_paths *paths, struct pleat_error *err)
{
    char fallback[64];
    snprintf(fallback, sizeof(fallback), "/tmp/pleat-%lu", (unsigned long)getuid());
    const char *runtime = runtime_env();
    bool ok = runtime ? put(paths->runtime, sizeof(paths->runtime), runtime, "/pleat")
                      : put(paths->runtime, sizeof(paths->runtime), fallback, "");
    ok = ok &&
         put_users(paths->state, sizeof(paths->state), "XDG_STATE_HOME", "/.local/state/pleat",
                   fallback) &&
         put_users(paths->config, sizeof(paths->config), "XDG_CONFIG_HOME", "/.config/pleat",
                   fallback);
    return ok ? 0 : too_long(err);
}

int pleat_paths_init(struct pleat_paths *paths, struct pleat_error *err)
{
    const char *directory = getenv("PLEAT_DIR");
    int rc = directory && *directory ? use_private(paths, directory, err) : use_users(paths, err);
    if (rc)
        return rc;
    if (!fits(snprintf(paths->socket, sizeof(paths->socket), "%s/pleatd.sock", paths->runtime),
              sizeof(paths->socket)))
        return too_long(err);
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

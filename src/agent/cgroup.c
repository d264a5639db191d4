#include "agent/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

bool pleat_cgroup_join(char *path, const char *directory, const char *name)
{
    int used = snprintf(path, PLEAT_CGROUP_PATH_MAX, "%s/%s", directory, name);
    return used > 0 && used < PLEAT_CGROUP_PATH_MAX;
}

bool pleat_cgroup_read(const char *directory, const char *name, char *line, size_t size)
{
    char path[PLEAT_CGROUP_PATH_MAX];
    if (!pleat_cgroup_join(path, directory, name))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t count = read(fd, line, size - 1);
    close(fd);
    line[count > 0 ? count : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return count >= 0;
}

int pleat_cgroup_write(const char *directory, const char *name, const char *text)
{
    char path[PLEAT_CGROUP_PATH_MAX];
    if (!pleat_cgroup_join(path, directory, name))
        return ENAMETOOLONG;
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0)
        return errno;
    ssize_t length = (ssize_t)strlen(text);
    errno = 0;
    int code = write(fd, text, (size_t)length) == length ? 0 : errno ? errno : EIO;
    close(fd);
    return code;
}

long long pleat_cgroup_read_key(const char *directory, const char *name, const char *key)
{
    char path[PLEAT_CGROUP_PATH_MAX], line[256], word[64];
    long long value = -1, here;
    FILE *file = pleat_cgroup_join(path, directory, name) ? fopen(path, "re") : NULL;
    while (file && value < 0 && fgets(line, sizeof(line), file))
        if (sscanf(line, "%63s %lld", word, &here) == 2 && !strcmp(word, key))
            value = here;
    if (file)
        fclose(file);
    return value;
}

/* Whether `list`, words with these separators between them, has the word. */
static bool has_word(const char *list, const char *separators, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; *at; at += strspn(at, separators)) {
        size_t here = strcspn(at, separators);
        if (here == length && strncmp(at, word, length) == 0)
            return true;
        at += here;
    }
    return false;
}

/* ---- where ---- */

struct mount {
    char root[PLEAT_CGROUP_PATH_MAX]; /* the directory of the hierarchy that is mounted there */
    char point[PLEAT_CGROUP_PATH_MAX];
};

/* Finds a line of mountinfo, proc(5): "36 35 98:0 ROOT POINT options [..] - TYPE source
 * SUPEROPTIONS". first: the controller that a mount of version 1 must have; NULL: any mount of
 * version 2. */
static bool find_mount(const char *root, const char *first, struct mount *mount)
{
    char path[PLEAT_CGROUP_PATH_MAX];
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    FILE *file = pleat_cgroup_join(path, root, "proc/self/mountinfo") ? fopen(path, "re") : NULL;
    while (file && !found && getline(&line, &size, file) > 0) {
        char type[64], options[512];
        const char *rest = strstr(line, " - ");
        found = rest && sscanf(line, "%*s %*s %*s %1023s %1023s", mount->root, mount->point) == 2 &&
                sscanf(rest, " - %63s %*s %511s", type, options) == 2 &&
                (first ? !strcmp(type, "cgroup") && has_word(options, ",", first)
                       : !strcmp(type, "cgroup2"));
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}

/* Finds this process's group in /proc/self/cgroup: lines "3:cpuset,cpu:/path" of version 1,
 * "0::/path" of version 2. */
static bool find_own(const char *root, const char *first, char *own)
{
    char path[PLEAT_CGROUP_PATH_MAX];
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    FILE *file = pleat_cgroup_join(path, root, "proc/self/cgroup") ? fopen(path, "re") : NULL;
    while (file && !found && getline(&line, &size, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *controllers++ = *group++ = '\0';
        found =
            first ? has_word(controllers, ",", first) : !strcmp(line, "0") && *controllers == '\0';
        if (found)
            found = snprintf(own, PLEAT_CGROUP_PATH_MAX, "%s", group) < PLEAT_CGROUP_PATH_MAX;
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}

/* The path of this process's own group. The root of the mount may be that group or one above it. */
static bool own_directory(const char *root, const char *first, char *directory)
{
    struct mount mount;
    char own[PLEAT_CGROUP_PATH_MAX];
    if (!find_mount(root, first, &mount) || !find_own(root, first, own))
        return false;
    size_t above = strcmp(mount.root, "/") ? strlen(mount.root) : 0;
    const char *below = strncmp(own, mount.root, above) == 0 ? own + above : "";
    int used = snprintf(directory, PLEAT_CGROUP_PATH_MAX, "%s%s%s", root, mount.point,
                        strcmp(below, "/") ? below : "");
    return used > 0 && used < PLEAT_CGROUP_PATH_MAX && access(directory, F_OK) == 0;
}

static bool is_usable_first(const char *directory, const char *probe)
{
    char line[4096];
    return access(directory, W_OK | X_OK) == 0 &&
           pleat_cgroup_read(directory, probe, line, sizeof(line));
}

/* Whether a controller could be given to groups in `directory` (version 2): no process may be in
 * it, unless it is the root of all groups. */
static bool could_hand_on(const char *directory)
{
    char line[64], path[PLEAT_CGROUP_PATH_MAX];
    bool is_root = !pleat_cgroup_read(directory, "cgroup.type", line, sizeof(line));
    return pleat_cgroup_join(path, directory, "cgroup.subtree_control") &&
           access(path, W_OK) == 0 &&
           (is_root ||
            (pleat_cgroup_read(directory, "cgroup.procs", line, sizeof(line)) && *line == '\0'));
}

/* Whether groups in `directory` (version 2) have the controller; or can be given it now, or, where
 * nothing is to be changed, could be. */
static bool is_usable_second(const char *directory, const char *controller, bool change)
{
    char line[4096], order[64];
    snprintf(order, sizeof(order), "+%s", controller);
    if (access(directory, W_OK | X_OK) ||
        !pleat_cgroup_read(directory, "cgroup.controllers", line, sizeof(line)) ||
        !has_word(line, " ", controller) ||
        !pleat_cgroup_read(directory, "cgroup.subtree_control", line, sizeof(line)))
        return false;
    return has_word(line, " ", controller) ||
           (change ? pleat_cgroup_write(directory, "cgroup.subtree_control", order) == 0
                   : could_hand_on(directory));
}

static bool find(const char *root, const char *controller, const char *probe, bool change,
                 struct pleat_cgroup_place *place)
{
    place->second = false;
    if (own_directory(root, controller, place->path) && is_usable_first(place->path, probe))
        return true;
    if (own_directory(root, NULL, place->path)) {
        place->second = true;
        if (is_usable_second(place->path, controller, change))
            return true;
        /* in version 2 a group with processes in it cannot hand the controller on; its parent can
         */
        char *end = strrchr(place->path, '/');
        if (end && end > place->path) {
            *end = '\0';
            if (is_usable_second(place->path, controller, change))
                return true;
        }
    }
    *place = (struct pleat_cgroup_place){0};
    return false;
}

bool pleat_cgroup_find(const char *root, const char *controller, const char *probe,
                       struct pleat_cgroup_place *place)
{
    return find(root, controller, probe, true, place);
}

bool pleat_cgroup_could(const char *root, const char *controller, const char *probe,
                        struct pleat_cgroup_place *place)
{
    return find(root, controller, probe, false, place);
}

/* ---- groups ---- */

int pleat_cgroup_make(const struct pleat_cgroup_place *place, const char *name,
                      struct pleat_error *err)
{
    char group[PLEAT_CGROUP_PATH_MAX];
    if (!pleat_cgroup_join(group, place->path, name))
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the path of the group '%.60s' is too long",
                               name);
    if (mkdir(group, 0755) && errno != EEXIST)
        return pleat_error_sys(err, errno, "cannot make the group '%s'", group);
    return 0;
}

int pleat_cgroup_open(const struct pleat_cgroup_place *place, const char *name, int *procs)
{
    char group[PLEAT_CGROUP_PATH_MAX], path[PLEAT_CGROUP_PATH_MAX];
    *procs = -1;
    if (!pleat_cgroup_join(group, place->path, name) ||
        !pleat_cgroup_join(path, group, "cgroup.procs"))
        return ENAMETOOLONG;
    *procs = open(path, O_WRONLY | O_CLOEXEC);
    return *procs < 0 ? errno : 0;
}

int pleat_cgroup_remove(const struct pleat_cgroup_place *place, const char *name,
                        struct pleat_error *err)
{
    char group[PLEAT_CGROUP_PATH_MAX];
    if (!pleat_cgroup_join(group, place->path, name) || rmdir(group) == 0 || errno == ENOENT)
        return 0;
    int code = errno;
    (void)pleat_error_sys(err, code, "cannot remove the group '%s'", group);
    if (code == EBUSY && err)
        err->code = PLEAT_E_BUSY;
    return code == EBUSY ? PLEAT_E_BUSY : PLEAT_E_SYSTEM;
}

size_t pleat_cgroup_remove_all(const struct pleat_cgroup_place *place, const char *prefix)
{
    DIR *directory = *place->path ? opendir(place->path) : NULL;
    const struct dirent *entry;
    size_t left = 0;
    while (directory && (entry = readdir(directory)) != NULL)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            left += pleat_cgroup_remove(place, entry->d_name, NULL) != 0;
    if (directory)
        closedir(directory);
    return left;
}

#include "agent/cpuset.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

static bool join(char *path, const char *directory, const char *name)
{
    int used = snprintf(path, PLEAT_CPUSET_PATH_MAX, "%s/%s", directory, name);
    return used > 0 && used < PLEAT_CPUSET_PATH_MAX;
}

/* The first line of a file, without its end; false: it cannot be read. */
static bool read_line(const char *directory, const char *name, char *line, size_t size)
{
    char path[PLEAT_CPUSET_PATH_MAX];
    if (!join(path, directory, name))
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

/* 0 or errno. */
static int write_text(const char *directory, const char *name, const char *text)
{
    char path[PLEAT_CPUSET_PATH_MAX];
    if (!join(path, directory, name))
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

/* Whether a list of words, with such separators, has one. */
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
    char root[PLEAT_CPUSET_PATH_MAX]; /* what of the hierarchy is there */
    char point[PLEAT_CPUSET_PATH_MAX];
};

/* proc(5): "36 35 98:0 ROOT POINT options [..] - TYPE source SUPEROPTIONS". Version 1 only with the
 * controller in it. */
static bool find_mount(const char *root, bool first_version, struct mount *mount)
{
    char path[PLEAT_CPUSET_PATH_MAX];
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    FILE *file = join(path, root, "proc/self/mountinfo") ? fopen(path, "re") : NULL;
    while (file && !found && getline(&line, &size, file) > 0) {
        char type[64], options[512];
        const char *rest = strstr(line, " - ");
        found = rest && sscanf(line, "%*s %*s %*s %1023s %1023s", mount->root, mount->point) == 2 &&
                sscanf(rest, " - %63s %*s %511s", type, options) == 2 &&
                (first_version ? !strcmp(type, "cgroup") && has_word(options, ",", "cpuset")
                               : !strcmp(type, "cgroup2"));
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}

/* Lines of /proc/self/cgroup: "3:cpuset,cpu:/path", of version 2 "0::/path". */
static bool find_own(const char *root, bool first_version, char *own)
{
    char path[PLEAT_CPUSET_PATH_MAX];
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    FILE *file = join(path, root, "proc/self/cgroup") ? fopen(path, "re") : NULL;
    while (file && !found && getline(&line, &size, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *controllers++ = *group++ = '\0';
        found = first_version ? has_word(controllers, ",", "cpuset")
                              : !strcmp(line, "0") && *controllers == '\0';
        if (found)
            found = snprintf(own, PLEAT_CPUSET_PATH_MAX, "%s", group) < PLEAT_CPUSET_PATH_MAX;
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}

/* This process's own group, as a path; what is mounted may begin above it or with it. */
static bool own_directory(const char *root, bool first_version, char *directory)
{
    struct mount mount;
    char own[PLEAT_CPUSET_PATH_MAX];
    if (!find_mount(root, first_version, &mount) || !find_own(root, first_version, own))
        return false;
    size_t above = strcmp(mount.root, "/") ? strlen(mount.root) : 0;
    const char *below = strncmp(own, mount.root, above) == 0 ? own + above : "";
    int used = snprintf(directory, PLEAT_CPUSET_PATH_MAX, "%s%s%s", root, mount.point,
                        strcmp(below, "/") ? below : "");
    return used > 0 && used < PLEAT_CPUSET_PATH_MAX && access(directory, F_OK) == 0;
}

static bool is_usable_first(const char *directory)
{
    char line[4096];
    return access(directory, W_OK | X_OK) == 0 &&
           read_line(directory, "cpuset.cpus", line, sizeof(line));
}

/* Its groups have the controller, or now they do. */
static bool is_usable_second(const char *directory)
{
    char line[4096];
    return access(directory, W_OK | X_OK) == 0 &&
           read_line(directory, "cgroup.controllers", line, sizeof(line)) &&
           has_word(line, " ", "cpuset") &&
           read_line(directory, "cgroup.subtree_control", line, sizeof(line)) &&
           (has_word(line, " ", "cpuset") ||
            write_text(directory, "cgroup.subtree_control", "+cpuset") == 0);
}

bool pleat_cpuset_find(const char *root, struct pleat_cpuset_place *place)
{
    if (own_directory(root, true, place->path) && is_usable_first(place->path))
        return true;
    if (own_directory(root, false, place->path)) {
        if (is_usable_second(place->path))
            return true;
        /* a group with processes in it cannot hand the controller on, the one around it can */
        char *end = strrchr(place->path, '/');
        if (end && end > place->path) {
            *end = '\0';
            if (is_usable_second(place->path))
                return true;
        }
    }
    place->path[0] = '\0';
    return false;
}

/* ---- groups ---- */

static int change(const char *group, const struct pleat_cpu_set *cpus)
{
    struct pleat_string text = {0};
    pleat_cpu_set_text(cpus, &text);
    int code = text.failed || !text.text ? ENOMEM : write_text(group, "cpuset.cpus", text.text);
    pleat_string_finish(&text);
    return code;
}

/* Version 1: nobody can be in a group that has no memory yet. */
static int give_memory(const char *place, const char *group)
{
    char mems[4096];
    if (!read_line(group, "cpuset.mems", mems, sizeof(mems)) || *mems)
        return 0;
    if (!read_line(place, "cpuset.mems", mems, sizeof(mems)) || !*mems)
        return 0; /* version 2: it has what those above have */
    return write_text(group, "cpuset.mems", mems);
}

static int set_up(const char *place, const char *group, const struct pleat_cpu_set *cpus,
                  int *procs)
{
    char path[PLEAT_CPUSET_PATH_MAX];
    int code = give_memory(place, group);
    if (!code)
        code = change(group, cpus);
    if (code)
        return code;
    *procs = join(path, group, "cgroup.procs") ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    return *procs < 0 ? errno : 0;
}

int pleat_cpuset_make(const struct pleat_cpuset_place *place, const char *name,
                      const struct pleat_cpu_set *cpus, int *procs, struct pleat_error *err)
{
    char group[PLEAT_CPUSET_PATH_MAX];
    if (!join(group, place->path, name))
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the path of the cpuset '%.60s' is too long",
                               name);
    if (mkdir(group, 0755) && errno != EEXIST)
        return pleat_error_sys(err, errno, "cannot make the cpuset '%s'", group);
    int code = set_up(place->path, group, cpus, procs);
    if (!code)
        return 0;
    (void)rmdir(group);
    return pleat_error_sys(err, code, "cannot set up the cpuset '%s'", group);
}

int pleat_cpuset_change(const struct pleat_cpuset_place *place, const char *name,
                        const struct pleat_cpu_set *cpus, struct pleat_error *err)
{
    char group[PLEAT_CPUSET_PATH_MAX];
    int code = join(group, place->path, name) ? change(group, cpus) : ENAMETOOLONG;
    return code ? pleat_error_sys(err, code, "cannot change the cpuset '%s'", group) : 0;
}

int pleat_cpuset_remove(const struct pleat_cpuset_place *place, const char *name,
                        struct pleat_error *err)
{
    char group[PLEAT_CPUSET_PATH_MAX];
    if (!join(group, place->path, name) || rmdir(group) == 0 || errno == ENOENT)
        return 0;
    int code = errno;
    (void)pleat_error_sys(err, code, "cannot remove the cpuset '%s'", group);
    if (code == EBUSY && err)
        err->code = PLEAT_E_BUSY;
    return code == EBUSY ? PLEAT_E_BUSY : PLEAT_E_SYSTEM;
}

size_t pleat_cpuset_remove_all(const struct pleat_cpuset_place *place, const char *prefix)
{
    DIR *directory = *place->path ? opendir(place->path) : NULL;
    const struct dirent *entry;
    size_t left = 0;
    while (directory && (entry = readdir(directory)) != NULL)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            left += pleat_cpuset_remove(place, entry->d_name, NULL) != 0;
    if (directory)
        closedir(directory);
    return left;
}

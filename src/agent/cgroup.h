/* cgroup.h - groups of processes that the kernel keeps (cgroups, version 1 or 2): where this user
 * may make groups with a controller, and their files.
 *
 * A group is a directory. A process in it stays in it, and so do its descendants. Everything is
 * read from the root of a file system, so that tests can bring their own. In version 2 a process is
 * in one group for all controllers, so groups with the same name at the same place are one.
 */
#ifndef PLEAT_AGENT_CGROUP_H
#define PLEAT_AGENT_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define PLEAT_CGROUP_PATH_MAX 1024

/* Where groups are made. Zeroed: nowhere. */
struct pleat_cgroup_place {
    char path[PLEAT_CGROUP_PATH_MAX];
    bool second; /* cgroups of version 2 */
};

/* Finds where this process may make groups. In version 1 that is its own group. In version 2 it is
 * its own group or the parent of that, where the controller can be used in the groups below. False:
 * nowhere. root: "" for the real file system. probe: a file that groups of version 1 with the
 * controller have. */
bool pleat_cgroup_find(const char *root, const char *controller, const char *probe,
                       struct pleat_cgroup_place *place);
/* As pleat_cgroup_find, but changes nothing: it may say true where the kernel would refuse. */
bool pleat_cgroup_could(const char *root, const char *controller, const char *probe,
                        struct pleat_cgroup_place *place);
/* Makes a group. A group of that name which exists already is taken over. PLEAT_E_SYSTEM,
 * PLEAT_E_TOOBIG. */
int pleat_cgroup_make(const struct pleat_cgroup_place *place, const char *name,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* The file (close-on-exec) into which a process writes "0" to join it. 0 or errno. */
int pleat_cgroup_open(const struct pleat_cgroup_place *place, const char *name, int *procs);
/* Removes the group, if there is one. PLEAT_E_BUSY: a process is in it. */
int pleat_cgroup_remove(const struct pleat_cgroup_place *place, const char *name,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Removes all groups whose names begin with `prefix` and in which no process is. Returns how many
 * are left. */
size_t pleat_cgroup_remove_all(const struct pleat_cgroup_place *place, const char *prefix);

/* ---- files ---- */

/* path: PLEAT_CGROUP_PATH_MAX bytes. False: it is too long. */
bool pleat_cgroup_join(char *path, const char *directory, const char *name);
/* Reads the first line of a file, without its newline. False: the file cannot be read. */
bool pleat_cgroup_read(const char *directory, const char *name, char *line, size_t size);
/* The number that follows the word `key` at the beginning of a line; -1: there is none. */
long long pleat_cgroup_read_key(const char *directory, const char *name, const char *key);
/* 0 or errno. */
int pleat_cgroup_write(const char *directory, const char *name, const char *text);

#endif

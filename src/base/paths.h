/* paths.h - where Pleat keeps things: the XDG directories, else /tmp/pleat-UID (mode 0700). */
#ifndef PLEAT_BASE_PATHS_H
#define PLEAT_BASE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct pleat_paths {
    char runtime[256]; /* for the socket and a lock; short, as a socket's path has at most 107 bytes
                        */
    char state[512];   /* for the log and the jobs' output */
    char config[512];  /* for pleat.conf; need not exist */
    char socket[104];  /* the socket's path, runtime/pleatd.sock */
};

/* Fills *paths from the environment, creating nothing. PLEAT_DIR puts all three under one directory
 * (a private instance, as tests and the demo use). Else XDG_RUNTIME_DIR, XDG_STATE_HOME or HOME,
 * XDG_CONFIG_HOME or HOME; else /tmp/pleat-UID. An XDG_RUNTIME_DIR that is another user's is
 * ignored. PLEAT_E_TOOBIG: the socket's path would be too long; PLEAT_E_INVALID: a path is not
 * UTF-8, so that jobs and commands could not be told of it. */
int pleat_paths_init(struct pleat_paths *paths, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Gets the socket at which the pleatd of the state directory listens, from the record in its lock.
 * That pleatd may be dead. False: there is no record. */
bool pleat_paths_recorded_socket(const struct pleat_paths *paths, char *socket, size_t size);

/* PLEAT_E_PERMISSION: the directory of the configuration belongs neither to this user nor to root,
 * so its files must not be read. */
int pleat_paths_check_config(const struct pleat_paths *paths,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

/* Writes the path of a file relative to the running program's directory. The file need not exist.
 * PLEAT_E_TOOBIG: `path` is too small. */
int pleat_paths_beside(const char *file, char *path, size_t size,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

/* Makes a directory and its parents with mode 0700 if they are missing. Refuses one that belongs to
 * another user, that others can write to, or that is reached through another user's link. */
int pleat_paths_make_private(const char *path, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

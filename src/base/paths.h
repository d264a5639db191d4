/* paths.h - where Pleat keeps things: the XDG directories, else /tmp/pleat-UID (mode 0700). */
#ifndef PLEAT_BASE_PATHS_H
#define PLEAT_BASE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct pleat_paths {
    char runtime[256]; /* the socket and the lock; short: a socket path has at most 107 bytes */
    char state[512];   /* the log and the jobs' output */
    char config[512];  /* pleat.conf lives here; need not exist */
    char socket[104];  /* runtime/pleatd.sock */
};

/* Fills *paths from the environment: PLEAT_DIR (all three under one directory: a private instance,
 * as tests and the demo use) or XDG_RUNTIME_DIR, XDG_STATE_HOME / HOME, XDG_CONFIG_HOME / HOME, or
 * /tmp/pleat-UID. An XDG_RUNTIME_DIR that is another user's is ignored. Creates nothing.
 * PLEAT_E_TOOBIG when the socket path would not fit; PLEAT_E_INVALID: a name that is not UTF-8, of
 * which jobs and commands could not be told. */
int pleat_paths_init(struct pleat_paths *paths, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Where the pleatd of that state directory listens, by its own record in the lock there; false: it
 * has left none. It may be dead. */
bool pleat_paths_recorded_socket(const struct pleat_paths *paths, char *socket, size_t size);

/* PLEAT_E_PERMISSION when the directory of the configuration is there and is neither this user's
 * nor root's: what somebody else wrote is not to be read. */
int pleat_paths_check_config(const struct pleat_paths *paths,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

/* The path of a file relative to the directory of the program that runs; the file need not exist.
 * PLEAT_E_TOOBIG when `path` has no room for it. */
int pleat_paths_beside(const char *file, char *path, size_t size,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

/* Makes a directory (and its parents) with mode 0700 where missing, and refuses one that belongs to
 * another user, that others can write to, or that a link of another user's leads to. */
int pleat_paths_make_private(const char *path, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

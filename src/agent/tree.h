/* tree.h - which processes there are, who descends from whom, and how to signal them safely.
 *
 * Everything is read from a directory laid out like /proc (its path is an argument, so that tests
 * can bring their own). A process is named by its pid and its start time together: a pid alone may
 * have been given to another process since it was read.
 */
#ifndef PLEAT_AGENT_TREE_H
#define PLEAT_AGENT_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"

struct pleat_tree_process {
    pid_t pid;
    pid_t parent;
    pid_t session;
    char state;   /* 'R', 'S', 'D', 'T', 'Z', ... of its first thread */
    bool exiting; /* it ends: its memory, and so its environment, may be gone already */
    uint32_t threads;
    uint64_t start;            /* clock ticks since boot */
    uint64_t owner;            /* the caller's; 0 after reading */
    bool owner_known;          /* the caller's; false after reading */
    bool spared, spared_known; /* likewise (leftovers.h) */
};

/* A snapshot, ordered by pid. A zeroed one is empty. It is not taken at one instant: a process that
 * was started since the list of pids was read is missing in it. That process's parent (or its
 * parent, ...) is in the list, but may have ended since: then it is counted in `vanished`, or is in
 * the snapshot as a zombie. */
struct pleat_tree {
    struct pleat_tree_process *items;
    size_t count;
    size_t capacity;
    size_t vanished; /* processes that were listed and could not be read */
};

/* Reads all processes; those that end meanwhile are left out. Replaces what *tree held. */
int pleat_tree_read(const char *proc, struct pleat_tree *tree,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_tree_finish(struct pleat_tree *tree);
/* NULL when not in the snapshot. */
struct pleat_tree_process *pleat_tree_find(const struct pleat_tree *tree, pid_t pid);
/* Whether `ancestor` is a parent, grandparent, ... of the process, within the snapshot. */
bool pleat_tree_descends(const struct pleat_tree *tree, const struct pleat_tree_process *process,
                         pid_t ancestor);
/* Dead already, only not reaped. (A process whose first thread alone has ended is not.) */
bool pleat_tree_is_dead(const struct pleat_tree_process *process);

/* One process. PLEAT_E_NOTFOUND: there is none (any more). */
int pleat_tree_read_one(const char *proc, pid_t pid,
                        struct pleat_tree_process *process) PLEAT_MUST_CHECK;

/* The environment a process was started with (as long as it has not overwritten it): *env is
 * `count` bytes of "NAME=value" strings, each ending with NUL; at most PLEAT_TREE_ENV_MAX bytes are
 * read. PLEAT_E_NOTFOUND: gone, a zombie, or not ours to read. Reuses and finishes with the string
 * of the caller. */
#define PLEAT_TREE_ENV_MAX ((size_t)4 * 1024 * 1024)
int pleat_tree_environ(const char *proc, pid_t pid, struct pleat_string *env) PLEAT_MUST_CHECK;
/* The value of NAME in such an environment, or NULL. */
const char *pleat_tree_environ_get(const struct pleat_string *env, const char *name);

/* A pidfd (close-on-exec) of exactly this process. PLEAT_E_NOTFOUND: it is gone, even where its pid
 * belongs to another process by now. */
int pleat_tree_open(const char *proc, pid_t pid, uint64_t start, int *pidfd,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* Signals exactly this process, never one that got its pid. PLEAT_E_NOTFOUND: gone;
 * PLEAT_E_PERMISSION; PLEAT_E_SYSTEM. */
int pleat_tree_signal(const char *proc, pid_t pid, uint64_t start, int signal_number,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

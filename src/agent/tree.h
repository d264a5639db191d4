/* tree.h - which processes there are, which descends from which, and how to signal them safely.
 *
 * Everything is read from a directory laid out like /proc (its path is an argument, so that tests
 * can bring their own). A process is named by its pid and its start time together: its pid alone
 * may have been given to another process since it was read.
 */
#ifndef PLEAT_AGENT_TREE_H
#define PLEAT_AGENT_TREE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"

struct pleat_process_entry {
    pid_t pid;
    pid_t parent;
    pid_t session;
    char state; /* 'R', 'S', 'D', 'T', 'Z', ... of the first thread */
    /* the process is ending: its memory, and so its environment, may be gone already */
    bool exiting;
    bool unexecuted; /* it has executed no program since it was forked */
    uint32_t threads;
    uint64_t start;            /* clock ticks since boot */
    uint64_t owner;            /* the caller's; 0 after reading */
    bool owner_known;          /* the caller's; false after reading */
    bool spared, spared_known; /* likewise (leftovers.h) */
};

/* A snapshot, ordered by pid. Zeroed: empty. It is not taken at one instant: a process that was
 * started after the list of pids was read is missing in it. One of that process's ancestors is in
 * the list, but may have ended since. An ancestor that has ended is counted in `vanished`, or is in
 * the snapshot as a zombie. */
struct pleat_process_tree {
    struct pleat_process_entry *items;
    size_t count;
    size_t capacity;
    size_t vanished; /* processes that were listed and could not be read */
};

/* Reads all processes, but those that end meanwhile. Replaces what *tree held. */
int pleat_process_tree_read(const char *proc, struct pleat_process_tree *tree,
                            struct pleat_error *err) PLEAT_MUST_CHECK;

/* Reads some processes and all that descend from them, and nothing else: it takes as long as these
 * are many, however many others there are. A process that is started, or gets another parent,
 * meanwhile may be missing. PLEAT_E_UNSUPPORTED: the kernel has no lists of children, or the first
 * of them ended just now: all can be read. PLEAT_E_NOMEM. */
int pleat_process_tree_below(const char *proc, struct pleat_process_tree *tree, const pid_t *tops,
                             size_t count, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Reading all in pieces, for who has other things to do meanwhile: it is begun, then `more` is
 * called until it returns 0. A process that is started meanwhile may be missing. Zeroed: nothing is
 * begun.
 */
struct pleat_process_reading {
    DIR *directory; /* NULL: not begun, or at its end */
};
/* Empties the tree. What was begun before is stopped. */
int pleat_process_tree_begin(const char *proc, struct pleat_process_tree *tree,
                             struct pleat_process_reading *reading,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reads up to `most` processes (1 at least). 1: there may be more. 0: that was all, and the tree is
 * ordered, which it is not before. PLEAT_E_NOMEM: the reading has stopped. */
int pleat_process_tree_more(const char *proc, struct pleat_process_tree *tree,
                            struct pleat_process_reading *reading, size_t most,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reads no more, if something was begun. */
void pleat_process_tree_stop(struct pleat_process_reading *reading);

void pleat_process_tree_finish(struct pleat_process_tree *tree);
/* NULL: the process is not in the snapshot. */
struct pleat_process_entry *pleat_process_tree_find(const struct pleat_process_tree *tree,
                                                    pid_t pid);
/* Whether `ancestor` is a parent, grandparent, ... of the process, within the snapshot. */
bool pleat_process_tree_descends(const struct pleat_process_tree *tree,
                                 const struct pleat_process_entry *process, pid_t ancestor);
/* Whether a process has ended and only waits to be reaped. (A process of which only the first
 * thread has ended is not dead.) */
bool pleat_process_tree_is_dead(const struct pleat_process_entry *process);

/* Reads one process. PLEAT_E_NOTFOUND: there is no such process (any more). */
int pleat_process_tree_read_one(const char *proc, pid_t pid,
                                struct pleat_process_entry *process) PLEAT_MUST_CHECK;

/* The name of a process's program, as in /proc/PID/comm: cut after 15 characters; "" when the
 * process is gone. */
#define PLEAT_TREE_NAME_SIZE 32
void pleat_process_tree_name(const char *proc, pid_t pid, char name[PLEAT_TREE_NAME_SIZE]);

/* Whether a process was started with this argument. */
bool pleat_process_tree_has_argument(const char *proc, pid_t pid, const char *argument);

/* Reads the environment with which a process was started, or what the process has written over it.
 * *env gets `length` bytes of "NAME=value" strings, each ending with NUL; at most
 * PLEAT_TREE_ENV_MAX bytes are read. PLEAT_E_NOTFOUND: the process is gone, a zombie, or not this
 * user's to read. The caller's string is reused, and finished by the caller. */
#define PLEAT_TREE_ENV_MAX ((size_t)4 * 1024 * 1024)
int pleat_process_tree_environ(const char *proc, pid_t pid,
                               struct pleat_string *env) PLEAT_MUST_CHECK;
/* The value of NAME in such an environment, or NULL. */
const char *pleat_process_tree_environ_get(const struct pleat_string *env, const char *name);

/* A pidfd (close-on-exec) of exactly this process. PLEAT_E_NOTFOUND: the process is gone, even
 * where another one has its pid by now. */
int pleat_process_tree_open(const char *proc, pid_t pid, uint64_t start, int *pidfd,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Signals exactly this process, never another one that got its pid. PLEAT_E_NOTFOUND: it is gone.
 * PLEAT_E_PERMISSION; PLEAT_E_SYSTEM. */
int pleat_process_tree_signal(const char *proc, pid_t pid, uint64_t start, int signal_number,
                              struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

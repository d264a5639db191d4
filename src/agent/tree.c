#include "agent/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_CHUNK 4096
/* More parents than any process has: a longer chain is a cycle, which a snapshot may have since
 * processes changed while it was read. */
#define CHAIN_MAX 4096

static int open_pidfd(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

static int read_file(const char *path, char *buffer, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t count = read(fd, buffer, size - 1);
    close(fd);
    if (count < 0)
        return -1;
    buffer[count] = '\0';
    return (int)count;
}

/* bits of `flags` in stat; include/linux/sched.h */
#define PF_EXITING 0x4u
#define PF_FORKNOEXEC 0x40u

/* proc(5): "pid (comm) state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime
 * stime cutime cstime priority nice num_threads itrealvalue starttime ..."; comm may contain
 * anything, so the fields are counted from its last ')'. */
static bool parse_stat(const char *text, struct pleat_process_entry *process)
{
    const char *fields = strrchr(text, ')');
    memset(process, 0, sizeof(*process));
    int parent = 0;
    int session = 0;
    unsigned flags = 0;
    if (!fields ||
        sscanf(fields + 1,
               " %c %d %*d %d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %" SCNu32
               " %*d %" SCNu64,
               &process->state, &parent, &session, &flags, &process->threads, &process->start) != 6)
        return false;
    process->pid = (pid_t)atoi(text);
    process->parent = parent;
    process->session = session;
    process->exiting = flags & PF_EXITING && process->threads <= 1;
    process->unexecuted = flags & PF_FORKNOEXEC;
    return process->pid > 0;
}

int pleat_process_tree_read_one(const char *proc, pid_t pid, struct pleat_process_entry *process)
{
    char path[256];
    char text[1024];
    int used = snprintf(path, sizeof(path), "%s/%d/stat", proc, (int)pid);
    if (used < 0 || (size_t)used >= sizeof(path) || read_file(path, text, sizeof(text)) < 0 ||
        !parse_stat(text, process) || process->pid != pid)
        return PLEAT_E_NOTFOUND;
    return 0;
}

static int by_pid(const void *left, const void *right)
{
    pid_t a = ((const struct pleat_process_entry *)left)->pid;
    pid_t b = ((const struct pleat_process_entry *)right)->pid;
    return (a > b) - (a < b);
}

int pleat_process_tree_begin(const char *proc, struct pleat_process_tree *tree,
                             struct pleat_process_reading *reading, struct pleat_error *err)
{
    pleat_process_tree_stop(reading);
    tree->count = 0;
    tree->vanished = 0;
    reading->directory = opendir(proc);
    if (!reading->directory)
        return pleat_error_sys(err, errno, "cannot read the list of processes in %s", proc);
    return 0;
}

int pleat_process_tree_more(const char *proc, struct pleat_process_tree *tree,
                            struct pleat_process_reading *reading, size_t most,
                            struct pleat_error *err)
{
    const struct dirent *entry = NULL;
    while (most > 0 && (entry = readdir(reading->directory)) != NULL) {
        struct pleat_process_entry process;
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        most--;
        if (pleat_process_tree_read_one(proc, (pid_t)atoi(entry->d_name), &process)) {
            tree->vanished++;
        } else if (pleat_array_push(tree, process)) {
            pleat_process_tree_stop(reading);
            tree->count = 0;
            return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the list of processes");
        }
    }
    if (most == 0)
        return 1;
    pleat_process_tree_stop(reading);
    if (tree->count > 1)
        qsort(tree->items, tree->count, sizeof(*tree->items), by_pid);
    return 0;
}

void pleat_process_tree_stop(struct pleat_process_reading *reading)
{
    if (reading->directory)
        closedir(reading->directory);
    reading->directory = NULL;
}

int pleat_process_tree_read(const char *proc, struct pleat_process_tree *tree,
                            struct pleat_error *err)
{
    struct pleat_process_reading reading = {0};
    int result = pleat_process_tree_begin(proc, tree, &reading, err);
    return result ? result : pleat_process_tree_more(proc, tree, &reading, SIZE_MAX, err);
}

/* ---- the descendants of some ---- */

/* Adds a process that is read. 0 also where it is gone; PLEAT_E_NOMEM. */
static int add_one(const char *proc, struct pleat_process_tree *tree, pid_t pid)
{
    struct pleat_process_entry process;
    if (!pleat_process_tree_read_one(proc, pid, &process))
        return pleat_array_push(tree, process);
    tree->vanished++;
    return 0;
}

/* Adds the children of a process's thread. */
static int add_children_of(const char *proc, struct pleat_process_tree *tree, pid_t pid,
                           const char *thread)
{
    char path[320];
    int child = 0, result = 0;
    snprintf(path, sizeof(path), "%.200s/%d/task/%.20s/children", proc, (int)pid, thread);
    FILE *file = fopen(path, "re");
    if (!file)
        tree->vanished++;
    while (file && !result && fscanf(file, "%d", &child) == 1)
        result = add_one(proc, tree, child);
    if (file)
        fclose(file);
    return result;
}

static int add_children(const char *proc, struct pleat_process_tree *tree, pid_t pid)
{
    char path[256];
    int result = 0;
    snprintf(path, sizeof(path), "%.200s/%d/task", proc, (int)pid);
    DIR *threads = opendir(path);
    if (!threads)
        tree->vanished++;
    for (struct dirent *entry; threads && !result && (entry = readdir(threads));)
        if (isdigit((unsigned char)entry->d_name[0]))
            result = add_children_of(proc, tree, pid, entry->d_name);
    if (threads)
        closedir(threads);
    return result;
}

/* One that got another parent meanwhile is there twice. */
static void order_once(struct pleat_process_tree *tree)
{
    size_t kept = 0;
    if (tree->count > 1)
        qsort(tree->items, tree->count, sizeof(*tree->items), by_pid);
    for (size_t i = 0; i < tree->count; i++)
        if (i == 0 || tree->items[i].pid != tree->items[kept - 1].pid)
            tree->items[kept++] = tree->items[i];
    tree->count = kept;
}

/* A kernel may be built without these lists. */
static bool has_children_lists(const char *proc, pid_t pid)
{
    char path[256];
    snprintf(path, sizeof(path), "%.200s/%d/task/%d/children", proc, (int)pid, (int)pid);
    return !access(path, R_OK);
}

int pleat_process_tree_below(const char *proc, struct pleat_process_tree *tree, const pid_t *tops,
                             size_t count, struct pleat_error *err)
{
    int result = 0;
    tree->count = tree->vanished = 0;
    for (size_t i = 0; !result && i < count; i++)
        result = add_one(proc, tree, tops[i]);
    for (size_t i = 0; !result && i < tree->count; i++) {
        const struct pleat_process_entry process = tree->items[i]; /* items may move */
        if (i == 0 && !pleat_process_tree_is_dead(&process) &&
            !has_children_lists(proc, process.pid))
            return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                                   "the kernel has no lists of children in %s", proc);
        if (!pleat_process_tree_is_dead(&process))
            result = add_children(proc, tree, process.pid);
    }
    if (result) {
        tree->count = 0;
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the list of processes");
    }
    order_once(tree);
    return 0;
}

void pleat_process_tree_finish(struct pleat_process_tree *tree)
{
    pleat_array_finish(tree);
}

struct pleat_process_entry *pleat_process_tree_find(const struct pleat_process_tree *tree,
                                                    pid_t pid)
{
    struct pleat_process_entry key = {.pid = pid};
    if (tree->count == 0)
        return NULL;
    return bsearch(&key, tree->items, tree->count, sizeof(*tree->items), by_pid);
}

bool pleat_process_tree_descends(const struct pleat_process_tree *tree,
                                 const struct pleat_process_entry *process, pid_t ancestor)
{
    for (int length = 0; process && length < CHAIN_MAX; length++) {
        if (process->parent == ancestor)
            return true;
        process = pleat_process_tree_find(tree, process->parent);
    }
    return false;
}

bool pleat_process_tree_is_dead(const struct pleat_process_entry *process)
{
    return process->threads <= 1 &&
           (process->state == 'Z' || process->state == 'X' || process->state == 'x');
}

void pleat_process_tree_name(const char *proc, pid_t pid, char name[PLEAT_TREE_NAME_SIZE])
{
    char path[256];
    name[0] = '\0';
    int used = snprintf(path, sizeof(path), "%s/%d/comm", proc, (int)pid);
    FILE *file = used > 0 && (size_t)used < sizeof(path) ? fopen(path, "re") : NULL;
    if (file && !fgets(name, PLEAT_TREE_NAME_SIZE, file))
        name[0] = '\0';
    if (file)
        fclose(file);
    name[strcspn(name, "\n")] = '\0';
}

/* All strings of a file of a process, at most PLEAT_TREE_ENV_MAX bytes. */
static int read_strings(const char *proc, pid_t pid, const char *file, struct pleat_string *strings)
{
    char path[256];
    char chunk[READ_CHUNK];
    strings->length = 0;
    int used = snprintf(path, sizeof(path), "%s/%d/%s", proc, (int)pid, file);
    if (used < 0 || (size_t)used >= sizeof(path))
        return PLEAT_E_NOTFOUND;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return PLEAT_E_NOTFOUND;
    ssize_t count;
    while (strings->length < PLEAT_TREE_ENV_MAX && (count = read(fd, chunk, sizeof(chunk))) > 0)
        pleat_string_add_bytes(strings, chunk, (size_t)count);
    close(fd);
    return strings->length > 0 && !strings->failed ? 0 : PLEAT_E_NOTFOUND;
}

bool pleat_process_tree_has_argument(const char *proc, pid_t pid, const char *argument)
{
    struct pleat_string words = {0};
    bool found = false;
    if (!read_strings(proc, pid, "cmdline", &words))
        for (size_t at = 0; at < words.length && !found; at += strlen(words.text + at) + 1)
            found = !strcmp(words.text + at, argument);
    pleat_string_finish(&words);
    return found;
}

int pleat_process_tree_environ(const char *proc, pid_t pid, struct pleat_string *env)
{
    return read_strings(proc, pid, "environ", env);
}

const char *pleat_process_tree_environ_get(const struct pleat_string *env, const char *name)
{
    size_t length = strlen(name);
    /* text[env->length] is NUL, so the last string ends even where the process wrote no NUL */
    for (size_t at = 0; at < env->length; at += strlen(env->text + at) + 1)
        if (strncmp(env->text + at, name, length) == 0 && env->text[at + length] == '=')
            return env->text + at + length + 1;
    return NULL;
}

int pleat_process_tree_open(const char *proc, pid_t pid, uint64_t start, int *pidfd,
                            struct pleat_error *err)
{
    int fd = open_pidfd(pid);
    if (fd < 0) {
        int code = errno;
        if (code == ESRCH)
            return pleat_error_set(err, PLEAT_E_NOTFOUND, "process %d is gone", (int)pid);
        return pleat_error_sys(err, code, "cannot open process %d", (int)pid);
    }
    /* The pidfd stays with its process, so what is checked now holds from now on. */
    struct pleat_process_entry now;
    if (pleat_process_tree_read_one(proc, pid, &now) || now.start != start) {
        close(fd);
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "process %d is gone", (int)pid);
    }
    *pidfd = fd;
    return 0;
}

int pleat_process_tree_signal(const char *proc, pid_t pid, uint64_t start, int signal_number,
                              struct pleat_error *err)
{
    int fd = -1;
    int result = pleat_process_tree_open(proc, pid, start, &fd, err);
    if (result)
        return result;
    int code = syscall(SYS_pidfd_send_signal, fd, signal_number, NULL, 0) ? errno : 0;
    close(fd);
    if (code == 0)
        return 0;
    if (code == ESRCH)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "process %d is gone", (int)pid);
    (void)pleat_error_sys(err, code, "cannot signal process %d", (int)pid);
    if (code == EPERM && err)
        err->code = PLEAT_E_PERMISSION;
    return code == EPERM ? PLEAT_E_PERMISSION : PLEAT_E_SYSTEM;
}

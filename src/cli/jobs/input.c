#include "cli/jobs/input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/write.h"
#include "cli/common/interrupt.h"

#define PREFIX "stdin-" /* followed by the pid */
#define STALE_S (24L * 3600)
#define LOOK_NS 20000000L

static bool is_nothing(void)
{
    struct stat about;
    return fstat(STDIN_FILENO, &about) ||
           (S_ISCHR(about.st_mode) && about.st_rdev == makedev(1, 3));
}

/* Removes FIFOs of processes that were killed. After a day no job waits for such an input. */
static void remove_stale(const char *directory)
{
    DIR *list = opendir(directory);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        struct stat about;
        if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)) &&
            !fstatat(dirfd(list), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) &&
            S_ISFIFO(about.st_mode) && about.st_mtime + STALE_S < time(NULL) &&
            kill((pid_t)atoi(entry->d_name + strlen(PREFIX)), 0) && errno == ESRCH)
            (void)unlinkat(dirfd(list), entry->d_name, 0);
    }
    if (list)
        closedir(list);
}

int pleat_input_begin(struct pleat_input *input, const struct pleat_paths *paths,
                      struct pleat_error *err)
{
    *input = (struct pleat_input){.fifo = -1, .opened = -1};
    if (is_nothing())
        return 0;
    remove_stale(paths->runtime);
    snprintf(input->path, sizeof(input->path), "%s/" PREFIX "%d", paths->runtime, (int)getpid());
    (void)unlink(input->path); /* an earlier process had the same pid */
    bool made = mkfifo(input->path, 0600) == 0;
    if (made) {
        pleat_interrupt_remove(input->path);
        input->fifo = open(input->path, O_RDWR | O_CLOEXEC);
        input->opened = inotify_init1(IN_CLOEXEC);
    }
    if (input->fifo >= 0 && input->opened >= 0 &&
        inotify_add_watch(input->opened, input->path, IN_OPEN) >= 0)
        return 0;
    int code = errno;
    (void)pleat_error_sys(err, code, "cannot pass standard input on through '%s'", input->path);
    pleat_input_end(input);
    return PLEAT_E_SYSTEM;
}

static void sleep_ns(long ns)
{
    struct timespec pause = {0, ns};
    nanosleep(&pause, NULL);
}

/* Waits until the program is in the foreground. Reading from a terminal in the background would
 * stop it. */
static void await_foreground(void)
{
    while (isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) != getpgrp())
        sleep_ns(10 * LOOK_NS);
}

/* Waits until a job has opened the FIFO and read all of it. Only then the job may see the end of
 * the input. */
static void await_read(const struct pleat_input *input)
{
    char event[sizeof(struct inotify_event) + 256];
    int left = 0;
    while (read(input->opened, event, sizeof(event)) < 0 && errno == EINTR)
        ;
    while (ioctl(input->fifo, FIONREAD, &left) == 0 && left > 0)
        sleep_ns(LOOK_NS);
}

static void *pass_on(void *arg)
{
    static char bytes[65536];
    struct pleat_input *input = arg;
    for (;;) {
        await_foreground();
        ssize_t got = read(STDIN_FILENO, bytes, sizeof(bytes));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || pleat_write_all(input->fifo, bytes, (size_t)got))
            break;
    }
    await_read(input);
    close(input->fifo);
    return NULL;
}

void pleat_input_start(struct pleat_input *input)
{
    pthread_t thread;
    sigset_t all, before;
    if (!*input->path)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are left to the main thread */
    if (pthread_create(&thread, NULL, pass_on, input))
        close(input->fifo); /* the job sees an empty input */
    else
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void pleat_input_end(struct pleat_input *input)
{
    pleat_interrupt_remove(NULL);
    if (*input->path)
        (void)unlink(input->path);
}
